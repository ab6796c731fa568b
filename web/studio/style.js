// @ts-check
/** The style of the studio; colours are those of theme.js. Lengths are in pixels of the design, --u each. */

const PLAIN = `
:host { --u: 1px; --side: 336px; --bar: 48px; --edge: color-mix(in srgb, var(--lw-soft) 72%, var(--lw-page)); display: block; height: 100%; color: var(--lw-ink); background: var(--lw-page); font: 14px/1.45 var(--lw-font); }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.room { position: relative; display: grid; height: 100%; grid-template: var(--bar) minmax(0, 1fr) auto / minmax(0, 1fr) var(--side);
  grid-template-areas: "bar bar" "stage side" "bottom bottom"; }
.bar { grid-area: bar; display: flex; align-items: center; gap: 14px; padding: 0 12px 0 16px; border-bottom: 1px solid var(--lw-line);
  background: var(--lw-card); }
h1 { margin: 0; font-size: 15px; font-weight: 650; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; max-width: 30vw; }
.told { flex: 1; display: flex; justify-content: center; min-width: 0; }
.tools { display: flex; gap: 4px; }
.stage { grid-area: stage; min-width: 0; min-height: 0; }
.side { grid-area: side; display: flex; flex-direction: column; min-height: 0; border-left: 1px solid var(--lw-line); background: var(--lw-card); }
.tabs { display: flex; flex-wrap: wrap; gap: 0 2px; padding: 6px 8px 0; border-bottom: 1px solid var(--lw-line); }
.tabs button { min-height: 34px; padding: 3px 10px; font-size: 13px; border: 0; border-bottom: 2px solid transparent; border-radius: 8px 8px 0 0; background: none;
  color: var(--lw-soft); font-weight: 550; white-space: nowrap; }
.tabs button[aria-selected="true"] { color: var(--lw-ink); border-bottom-color: var(--lw-goal); }
.pages { flex: 1; min-height: 0; }
.page { height: 100%; overflow: auto; padding: 12px 14px 20px; }
.page.tall { display: flex; flex-direction: column; overflow: hidden; }
.bottom { grid-area: bottom; min-width: 0; border-top: 1px solid var(--lw-line); background: var(--lw-card); }
.transport { display: flex; align-items: center; flex-wrap: wrap; gap: 4px 6px; padding: 6px 12px; }
.transport select, .transport input { min-height: 32px; }
.transport input[type="number"] { width: 4.2em; }
.transport select { max-width: 7.6em; padding-inline: 6px; }
.clips, .ways { display: inline-flex; align-items: center; gap: 4px; }
.more { display: flex; flex-wrap: wrap; gap: 4px; margin-left: auto; }
.chip { min-height: 30px; padding: 2px 11px; border-radius: 99px; font-size: 13px; color: var(--lw-soft); }
.chip[aria-pressed="true"], .tool[aria-pressed="true"] { color: var(--lw-link-text); border-color: var(--lw-link); }
.tracks-box { max-height: 168px; overflow: hidden auto; border-top: 1px solid var(--lw-line); }
.tracks, .curves { display: block; width: 100%; touch-action: none; cursor: pointer; }
.tracks:focus-visible { outline-offset: -2px; }
.curves-box { border-top: 1px solid var(--lw-line); background: var(--lw-page); }
.curve-field { position: relative; overflow: clip; }
.pull { position: absolute; left: 0; top: 0; width: 24px; min-height: 24px; margin: -12px; padding: 0; border: 0; border-radius: 50%; background: none; pointer-events: none; }
.legend { display: flex; flex-wrap: wrap; gap: 4px; padding: 4px 10px 8px; }
.legend button { display: inline-flex; align-items: center; gap: 6px; min-height: 28px; font-size: 12px; border-color: transparent; background: none; }
.legend button[aria-pressed="true"] { border-color: var(--lw-link); }
.ask { min-width: min(360px, 92vw); margin: auto; padding: 18px; border: 1px solid var(--lw-line); border-radius: 14px; background: var(--lw-card); color: var(--lw-ink); box-shadow: 0 20px 60px #0005; }
.ask::backdrop { background: #0004; }
.ask > * + * { margin-top: 12px; }
.ask input { width: 100%; }
button, select, input[type="text"], input[type="search"], input[type="number"] { min-height: 34px; padding: 3px 10px; border: 1px solid var(--lw-line);
  border-radius: 8px; background: var(--lw-page); color: inherit; font: inherit; }
select, input[type="text"], input[type="search"], input[type="number"] { border-color: var(--edge); }
::placeholder { color: var(--lw-soft); opacity: 1; }
button { cursor: pointer; } button svg { width: 20px; height: 20px; }
button:hover:not(:disabled) { border-color: var(--lw-soft); }
button:disabled { opacity: .4; cursor: default; }
.tool { display: inline-grid; place-items: center; width: 36px; min-height: 36px; padding: 0; border-color: transparent; background: none; }
.heading { display: flex; align-items: center; justify-content: space-between; margin: 14px 0 6px; }
.heading:first-child { margin-top: 0; }
h2 { margin: 0; font-size: 12px; font-weight: 650; letter-spacing: .04em; text-transform: uppercase; color: var(--lw-soft); }
.settings { margin-top: 16px; }
h3 { margin: 0 0 8px; font-size: 14px; overflow-wrap: anywhere; }
ul { margin: 0; padding: 0; list-style: none; }
.soft { color: var(--lw-soft); font-size: 13px; margin: 4px 0; }
.row { display: flex; align-items: center; gap: 8px; }
.row > select, .row > input[type="range"] { flex: 1; min-width: 0; }
.goals > li { border: 1px solid transparent; border-radius: 10px; }
.goals > li.open { border-color: var(--lw-line); background: var(--lw-page); margin: 4px 0; }
.goals .name { flex: 1; display: flex; align-items: center; gap: 9px; min-width: 0; min-height: 40px; border: 0; background: none; text-align: left; }
.goals .name span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 550; }
.goals .name small { color: var(--lw-soft); }
.dot { flex: none; width: 11px; height: 11px; border-radius: 50%; }
.details { display: grid; gap: 8px; padding: 4px 12px 12px; }
.field { display: grid; grid-template-columns: 92px minmax(0, 1fr); align-items: center; gap: 8px; margin: 4px 0; }
.field > span { color: var(--lw-soft); font-size: 13px; }
.check { display: flex; align-items: center; gap: 8px; }
input[type="checkbox"] { flex: none; width: 17px; height: 17px; accent-color: var(--lw-goal); }
input[type="range"] { accent-color: var(--lw-link); min-width: 0; }
.card { margin: 12px 0; padding: 12px; border: 1px solid var(--lw-line); border-radius: 12px; background: var(--lw-page); }
.card p { margin: 0 0 8px; } .remarks .chip { margin: 4px 4px 2px 0; } .remarks span { display: block; }
.remarks summary { cursor: pointer; min-height: 24px; } .buttons.save { margin-bottom: 8px; }
.jobs li { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; } .jobs li > span:first-child { flex: 1; } .jobs progress { flex: 2; min-width: 60px; }
.buttons { display: flex; flex-wrap: wrap; gap: 6px; }
.virtual { position: relative; flex: 1; overflow: auto; margin: 6px -14px 0; padding: 0 14px; }
.space { position: relative; }
.joint { position: absolute; left: 0; right: 0; height: 46px; display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 8px; font-size: 13px; align-content: start; }
.joint > span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.joint output { color: var(--lw-soft); font-variant-numeric: tabular-nums; }
.joint input { grid-column: 1 / -1; width: 100%; margin: 0; min-height: 22px; }
.joint.edge output { color: var(--lw-bad-text); font-weight: 600; }
.status { position: relative; max-width: 100%; }
.status summary { display: flex; align-items: center; gap: 8px; list-style: none; padding: 5px 14px; border: 1px solid var(--lw-line); border-radius: 99px; background: var(--lw-page);
  cursor: pointer; font-weight: 600; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.words { overflow: hidden; text-overflow: ellipsis; }
.status summary::-webkit-details-marker { display: none; }
.status summary i { width: 9px; height: 9px; border-radius: 50%; background: var(--lw-soft); flex: none; }
.status[data-kind="good"] summary { color: var(--lw-good-text); } .status[data-kind="good"] i { background: var(--lw-good); }
.status[data-kind="bad"] summary { color: var(--lw-bad-text); } .status[data-kind="bad"] i { background: var(--lw-bad); }
.status[data-kind="busy"] i { background: var(--lw-goal-text); animation: busy 1s ease-in-out infinite alternate; } @keyframes busy { to { opacity: .25; } }
@media (prefers-reduced-motion: reduce) { .status[data-kind="busy"] i { animation: none; } }
.status[data-kind="way"] summary { color: var(--lw-goal-text); } .status[data-kind="way"] i { background: var(--lw-goal-text); }
.why { position: absolute; z-index: 5; top: 100%; left: 50%; translate: -50% 0; width: min(440px, 90vw); margin: 6px 0 0; padding: 12px 16px; border: 1px solid var(--lw-line);
  border-radius: 12px; background: var(--lw-card); box-shadow: 0 8px 30px #0003; font-weight: 400; white-space: pre-line; }
.note { position: absolute; z-index: 6; left: calc((100% - var(--side)) / 2); bottom: 110px; translate: -50% 0; display: flex; align-items: start; gap: 8px; width: max-content;
  max-width: min(560px, 100% - var(--side) - 28px); padding: 6px 6px 6px 18px; border: 1px solid var(--lw-bad); border-radius: 12px; overflow-wrap: anywhere; background: var(--lw-card); color: var(--lw-bad-text); box-shadow: 0 8px 30px #0003; }
.note > span { padding: 7px 0; }
.note[data-kind=good] { border-color: var(--lw-good); color: var(--lw-good-text); }
.clock { font-variant-numeric: tabular-nums; color: var(--lw-soft); min-width: 8.4em; padding: 0 4px; }
.plot { display: block; width: 100%; color: var(--lw-soft); }
.plots figure { margin: 10px 0 0; } .plots figcaption { font-size: 12px; color: var(--lw-soft); }
.racers { columns: 2; column-gap: 8px; } .racers .check { display: grid; grid-template-columns: auto auto minmax(0, 1fr); gap: 0 6px; font-size: 13px; overflow-wrap: anywhere; } .racers small { grid-column: 3; margin: 0; } .racers li { break-inside: avoid; padding: 3px 0; }
.main { background: var(--lw-link); border-color: var(--lw-link); color: var(--lw-card); font-weight: 600; padding-inline: 20px; }
.numbers { display: grid; grid-template-columns: 1fr 1fr; gap: 4px 14px; margin: 8px 0; font-size: 13px; }
.numbers > div { display: flex; justify-content: space-between; } .numbers span { color: var(--lw-soft); }
.values { grid-column: 1 / -1; margin: 6px 0 0; } .values figcaption { color: var(--lw-soft); font-size: 12px; }
.bars { display: flex; align-items: flex-end; justify-content: flex-start; gap: 4px; height: 64px; padding-top: 6px; }
.bars i { position: relative; flex: 0 1 26px; background: var(--lw-line); border-radius: 3px 3px 0 0; }
.bars b { position: absolute; left: 0; right: 0; bottom: 0; background: var(--lw-link); border-radius: 3px 3px 0 0; }
.matrix { overflow-x: auto; } .matrix table { border-collapse: collapse; font-size: 11px; font-variant-numeric: tabular-nums; }
.matrix caption { text-align: left; color: var(--lw-soft); padding: 4px 0; }
.matrix th { font-weight: 500; color: var(--lw-soft); text-align: left; padding: 2px 6px 2px 0; vertical-align: bottom; white-space: nowrap; }
.matrix th[scope="col"] span { display: inline-block; writing-mode: vertical-rl; rotate: 180deg; max-height: 110px; overflow: hidden; text-overflow: ellipsis; }
.matrix td { padding: 2px 5px; text-align: right; background: color-mix(in srgb, var(--lw-goal) calc(var(--share) * 45%), transparent); }
.remarks li, .jobs li { padding: 4px 0; font-size: 13px; color: var(--lw-soft); overflow-wrap: anywhere; }
.dropping .stage { outline: 3px dashed var(--lw-goal); outline-offset: -8px; }
.palette { width: min(560px, 92vw); margin: 12vh auto auto; padding: 0; border: 1px solid var(--lw-line); border-radius: 14px; background: var(--lw-card); color: var(--lw-ink); box-shadow: 0 20px 60px #0005; }
.palette::backdrop { background: #0004; }
.palette input { width: 100%; min-height: 52px; padding: 0 18px; border: 0; border-bottom: 1px solid var(--lw-line); border-radius: 14px 14px 0 0; font-size: 17px; background: none; }
.palette input:focus { outline: none; border-bottom-color: var(--lw-goal-text); }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.palette li { display: flex; justify-content: space-between; padding: 10px 18px; cursor: pointer; }
.palette li[aria-selected="true"] { background: var(--lw-page); }
kbd { padding: 1px 7px; border: 1px solid var(--lw-line); border-radius: 6px; font: 12px/1.5 var(--lw-font); color: var(--lw-soft); }
.tour { position: absolute; z-index: 4; left: calc((100% - var(--side)) / 2); top: calc(var(--bar) + 14px); translate: -50% 0; width: min(400px, 100% - var(--side) - 28px); padding: 12px 8px 8px 18px; border: 1px solid var(--lw-goal);
  border-radius: 14px; background: var(--lw-card); box-shadow: 0 8px 30px #0002; }
.tour p { margin: 0 0 6px; font-size: 15px; } .tour .row { justify-content: flex-end; } .tour small { margin-right: auto; }
.help th { text-align: left; padding: 4px 14px 4px 0; font-weight: 400; vertical-align: baseline; } .help kbd { display: inline-block; margin: 1px 3px 1px 0; }
.ask h2:focus { outline: none; } .ask:has(.help) { max-height: 84vh; overflow: auto; }
.virtual .joint { padding-right: 4px; }
@media (max-width: 760px) {
  :host { --side: 0px; }
  .room { grid-template: var(--bar) minmax(0, 1fr) auto auto / minmax(0, 1fr); grid-template-areas: "bar" "stage" "side" "bottom"; }
  .side { border-left: 0; border-top: 1px solid var(--lw-line); min-width: 0; }
  .pages { display: none; } .sheet .pages { display: block; flex: none; height: 40vh; }
  .tabs { padding: 2px 4px 0; gap: 0; flex-wrap: nowrap; overflow-x: auto; } .tabs button { flex: 1 0 auto; padding: 3px 5px; font-size: 12px; }
  h1 { display: none; } .told { justify-content: flex-start; } .status { position: static; }
  .why { top: var(--bar); left: 8px; right: 8px; width: auto; translate: none; }
  .transport { flex-wrap: nowrap; overflow-x: auto; } .more { flex-wrap: nowrap; margin-left: 0; } .more .chip { white-space: nowrap; }
}
@media (min-width: 1200px) { :host { --side: 384px; } .tabs { flex-wrap: nowrap; } .tabs button { flex: 1 0 auto; padding-inline: 4px; } }
@media (min-width: 2200px) { :host { --u: 1.35px; } }
@media (min-width: 3000px) { :host { --u: 1.7px; } }
`;

/** All lengths scale with --u, for large screens with small pixels, except hairlines and media queries. */
export const CSS = PLAIN.replace(/(@media[^{]*|--u: [^;]*)|(?<![\w.])(-?\d*\.?\d+)px/g, (all, as, size) => (as || size === "1" ? all : `calc(${size} * var(--u))`));
