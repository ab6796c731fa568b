// Plays an animation of a GLB file in three.js and prints one JSON object: node -> its places (x, y, z) at the times.
// Usage: node three_player.mjs <folder with node_modules> <file> <number of the animation> < <times as JSON>
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, file, number] = process.argv.slice(2);
globalThis.self = globalThis; // as in a browser
const from = (name) => import(pathToFileURL(`${folder}/node_modules/three/${name}`).href);
const { AnimationMixer, LoopOnce, Vector3 } = await from("build/three.module.js");
const { GLTFLoader } = await from("examples/jsm/loaders/GLTFLoader.js");

const bytes = readFileSync(file);
const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
const gltf = await new GLTFLoader().parseAsync(data, "");
const mixer = new AnimationMixer(gltf.scene);
const action = mixer.clipAction(gltf.animations[Number(number)]).setLoop(LoopOnce);
action.clampWhenFinished = true;
action.play();
const names = gltf.parser.json.nodes.map((node) => node.name);
const nodes = await Promise.all(names.map((_, index) => gltf.parser.getDependency("node", index)));
const places = Object.fromEntries(names.map((name) => [name, []]));
for (const time of JSON.parse(readFileSync(0, "utf8"))) {
  mixer.setTime(time);
  gltf.scene.updateMatrixWorld(true);
  nodes.forEach((node, k) => places[names[k]].push(node.getWorldPosition(new Vector3()).toArray()));
}
console.log(JSON.stringify(places));
