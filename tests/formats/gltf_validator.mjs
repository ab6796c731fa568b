// Runs the Khronos glTF validator on files and prints one JSON object: file -> list of "SEVERITY CODE pointer message".
// Usage: node gltf_validator.mjs <folder with node_modules> <file>...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [folder, ...files] = process.argv.slice(2);
const validator = createRequire(`${folder}/package.json`)("gltf-validator");
const severities = ["error", "warning", "info", "hint"];
const found = {};
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(readFileSync(file)), { uri: file, maxIssues: 100 });
  found[file] = report.issues.messages.map((m) => `${severities[m.severity]} ${m.code} ${m.pointer ?? ""} ${m.message}`);
}
console.log(JSON.stringify(found));
