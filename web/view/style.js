// @ts-check
/** The style of the view; colours are those of theme.js. */

export const CSS = `
:host { display: block; position: relative; min-height: 320px; container-type: inline-size; color: var(--lw-ink);
  background: var(--lw-page); font: 15px/1.45 var(--lw-font); }
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
.frame { display: grid; grid-template: minmax(0, 1fr) / minmax(0, 1fr) 312px; width: 100%; height: 100%; min-height: inherit; }
.frame.alone { grid-template-columns: minmax(0, 1fr); }
.scene { position: relative; min-width: 0; min-height: 0; }
.scene > .room { position: absolute; inset: 0; }
.chip { position: absolute; left: 14px; bottom: 12px; max-width: calc(100% - 28px); padding: 3px 12px; border-radius: 99px;
  border: 1px solid var(--lw-line); background: var(--lw-bar); color: var(--lw-ink); font-weight: 600; pointer-events: none; }
.chip[data-kind="good"] { color: var(--lw-good-text); border-color: var(--lw-good); }
.chip[data-kind="bad"] { color: var(--lw-bad-text); border-color: var(--lw-bad); }
.chip[data-kind="way"] { color: var(--lw-goal-text); border-color: var(--lw-goal); }
.panel { overflow: auto; padding: 14px 16px 18px; border-left: 1px solid var(--lw-line); background: var(--lw-card); }
.alone .panel { display: none; }
h2 { margin: 0; font-size: 17px; font-weight: 650; line-height: 1.3; overflow-wrap: anywhere; }
.note { margin: 2px 0 10px; color: var(--lw-soft); font-size: 13px; }
.said { min-height: 2.9em; margin: 0 0 12px; color: var(--lw-soft); font-size: 13px; overflow-wrap: anywhere; }
.row { display: flex; align-items: center; gap: 8px; margin: 0 0 8px; }
.row > label { flex: 0 0 74px; color: var(--lw-soft); font-size: 13px; }
select, button { min-height: 34px; padding: 3px 10px; border: 1px solid var(--lw-line); border-radius: 8px; background: var(--lw-page);
  color: inherit; font: inherit; }
select { flex: 1; min-width: 0; }
button { cursor: pointer; }
button:hover { border-color: var(--lw-soft); }
button[aria-pressed="true"] { border-color: var(--lw-link); color: var(--lw-link-text); font-weight: 600; }
details { border-top: 1px solid var(--lw-line); padding: 8px 0 2px; }
summary { padding: 2px 0 6px; font-weight: 600; cursor: pointer; }
ul { margin: 0; padding: 0; list-style: none; }
li { display: flex; align-items: center; gap: 8px; min-height: 36px; }
li > span { flex: 1; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
li > button { flex: none; font-size: 13px; min-height: 30px; }
.check { display: flex; align-items: center; gap: 8px; margin: 0 0 8px; cursor: pointer; }
.check input { width: 17px; height: 17px; accent-color: var(--lw-goal); }
.joint { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: baseline; gap: 0 8px; margin: 0 0 6px; font-size: 13px; }
.joint > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.joint output { color: var(--lw-soft); font-variant-numeric: tabular-nums; }
.joint input { grid-column: 1 / -1; width: 100%; min-height: 22px; margin: 0; accent-color: var(--lw-link); }
.joint.edge output { color: var(--lw-bad-text); font-weight: 600; }
.trouble { margin: 14px; padding: 12px 16px; border: 1px solid var(--lw-bad); border-radius: 10px; color: var(--lw-bad-text); }
@container (max-width: 700px) {
  .frame { grid-template: minmax(0, 1fr) minmax(0, auto) / minmax(0, 1fr); }
  .panel { max-height: 44vh; border-left: 0; border-top: 1px solid var(--lw-line); padding: 10px 14px 14px; }
  .said { min-height: 0; }
}
@container (min-width: 1700px) {
  .frame { grid-template-columns: minmax(0, 1fr) 420px; }
  .frame, .joint, .note, .said, li > button, .row > label { font-size: 18px; }
  h2 { font-size: 24px; }
}
`;
