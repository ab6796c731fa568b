// Plays animations of GLB files in three.js: for each request on stdin, a line of JSON with the names of the nodes and,
// as float32 in base64, their places (times, nodes, 3).
// Usage: node three_player.mjs <folder with node_modules> < [{"file": ..., "number": of the animation, "times": [...]}]
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
globalThis.self = globalThis; // as in a browser
const from = (name) => import(pathToFileURL(`${folder}/node_modules/three/${name}`).href);
const { AnimationMixer, LoopOnce } = await from("build/three.module.js");
const { GLTFLoader } = await from("examples/jsm/loaders/GLTFLoader.js");

for (const { file, number, times } of JSON.parse(readFileSync(0, "utf8"))) {
  const bytes = readFileSync(file);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const gltf = await new GLTFLoader().parseAsync(data, "");
  const mixer = new AnimationMixer(gltf.scene);
  const action = mixer.clipAction(gltf.animations[number]).setLoop(LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  const names = gltf.parser.json.nodes.map((node) => node.name);
  const nodes = await Promise.all(names.map((_, index) => gltf.parser.getDependency("node", index)));
  const places = new Float32Array(times.length * nodes.length * 3);
  times.forEach((time, row) => {
    mixer.setTime(time);
    gltf.scene.updateMatrixWorld(true);
    nodes.forEach((node, k) => places.set(node.matrixWorld.elements.slice(12, 15), (row * nodes.length + k) * 3));
  });
  console.log(JSON.stringify({ names, places: Buffer.from(places.buffer).toString("base64") }));
}
