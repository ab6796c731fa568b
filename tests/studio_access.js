// Measures the studio's page by the rules of WCAG 2.2 AA: an expression, whose methods are called.

(() => {
  const root = document.querySelector("linkwork-studio").root;
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const WRITTEN = "input:not([type=range]):not([type=checkbox]), select"; // controls that show text

  /** @param {string} text a colour of any kind @returns {number[]} red, green, blue from 0 to 255, and how dense */
  const read = (text) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = text;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((x, k) => x * a + under[k] * (1 - a));
  const parent = (one) => one.parentElement ?? one.getRootNode().host ?? null;

  /** The visible background colour of an element, composed of its layers. */
  const behind = (one) => {
    const layers = [];
    for (let at = one; at; at = parent(at)) {
      layers.unshift(read(getComputedStyle(at).backgroundColor));
      if (layers[0][3] === 1) break;
    }
    return layers.reduce((under, layer) => over(layer, under), [255, 255, 255]);
  };
  const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.reduce((sum, x, k) => sum + linear(x / 255) * [0.2126, 0.7152, 0.0722][k], 0);
  const ratio = (a, b) => {
    const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const shown = (one) => one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && one.getBoundingClientRect().width > 1;
  const enabled = (one) => !one.closest(":disabled, [aria-disabled=true]"); // disabled controls may be faint
  const name = (one) => `${one.tagName.toLowerCase()} ${one.getAttribute("aria-label") ?? (one.title || (one.textContent || one.value || "").trim().slice(0, 40))}`;

  /** The contrasts of one element: its text, placeholder, border and drawing. */
  const measured = (one) => {
    const [css, ground, found] = [getComputedStyle(one), behind(one), []];
    const add = (what, paint, under, least) => found.push({ what: `${what}: ${name(one)}`, ratio: ratio(over(paint, under), under), least });
    const words = [...one.childNodes].some((part) => part.nodeType === Node.TEXT_NODE && part.data.trim());
    if (words || one.matches(WRITTEN)) {
      const size = parseFloat(css.fontSize);
      const large = size >= 24 || (size >= 18.66 && css.fontWeight >= 700);
      add("words", read(one instanceof SVGElement ? css.fill : css.color), ground, large ? 3 : 4.5);
    }
    if (one.placeholder) {
      const faint = getComputedStyle(one, "::placeholder");
      const [r, g, b, a] = read(faint.color);
      add("placeholder", [r, g, b, a * faint.opacity], ground, 4.5);
    }
    if (one.matches(WRITTEN)) add("edge", read(css.borderBottomColor), behind(parent(one)), 3);
    if (one.matches("svg[aria-hidden]")) add("drawing", read(css.color), ground, 3);
    if (one.matches(".dot, .status i")) add("dot", read(css.backgroundColor), behind(parent(one)), 3);
    if (one.matches("polyline")) add("curve", read(css.stroke), ground, 3);
    return found;
  };

  return {
    contrasts: () => [...root.querySelectorAll("*:not(style, option, .unseen)")].filter((one) => shown(one) && enabled(one)).flatMap(measured),

    /** The focused element, through shadow roots; it is marked as reached. */
    focused: () => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      if (!at || at === document.body) return null;
      const again = at.dataset.reached === "yes";
      at.dataset.reached = "yes";
      const css = getComputedStyle(at);
      const ground = behind(parseFloat(css.outlineOffset) > 0 ? parent(at) : at);
      const ring = css.outlineStyle !== "none" && parseFloat(css.outlineWidth) >= 2 && ratio(over(read(css.outlineColor), ground), ground) >= 3;
      return { name: name(at), ring, again };
    },
    forget: () => root.querySelectorAll("[data-reached]").forEach((one) => delete one.dataset.reached),

    /** Controls that Tab has not reached; only one tab of a list is in the order, arrow keys reach the others. */
    missed: () => [...root.querySelectorAll("button, input, select, summary, canvas, a[href], [tabindex='0']")]
      .filter((one) => one.checkVisibility({ checkVisibilityCSS: true }) && !one.disabled && one.tabIndex !== -1 && one.dataset.reached !== "yes").map(name),

    /** The text beside each control, and its accessible name. */
    labels: () => [...root.querySelectorAll("label")].filter((label) => label.checkVisibility()).map((label) => {
      const words = [...label.querySelectorAll("span")].map((span) => span.textContent).join(" ").trim() || label.textContent.trim();
      return [words, label.control?.getAttribute("aria-label") ?? words];
    }),
  };
})()
