(function () {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const rows = new Map(data.rows.map((r) => [r.id, r]));

  // ---- packed columns -------------------------------------------------------
  const bytes = (b64) => Uint8Array.from(atob(b64), (c) => c.charCodeAt(0));
  function counts(b64) {
    const out = [];
    let n = 0, scale = 1;
    for (const b of bytes(b64)) {
      n += (b & 127) * scale;
      if (b < 128) { out.push(n); n = 0; scale = 1; } else scale *= 128;
    }
    return out;
  }
  function times(b64) { // nanoseconds, null where there was no sample
    const b = bytes(b64), out = [];
    for (let i = 0; i + 1 < b.length; i += 2) {
      const q = b[i] | (b[i + 1] << 8);
      out.push(q === 0 ? null : Math.exp((q - 1) * data.step));
    }
    return out;
  }

  // ---- numbers, as format.go writes them ------------------------------------
  function significant(v, n) {
    if (!v) return "0";
    const d = Math.min(12, Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(v)))));
    return Number(v.toFixed(d)).toLocaleString("en-US", { maximumFractionDigits: d });
  }
  function duration(ns) {
    if (ns == null) return "–";
    const a = Math.abs(ns);
    if (a === 0) return "0 ms";
    if (a < 1e3) return significant(ns, 3) + " ns";
    if (a < 1e6) return significant(ns / 1e3, 3) + " µs";
    if (a < 1e9) return significant(ns / 1e6, 3) + " ms";
    return significant(ns / 1e9, 3) + " s";
  }
  const rate = (v) => v == null ? "–" : significant(v, 4) + "/s";
  const whole = (v) => v == null ? "–" : v.toLocaleString("en-US", { maximumFractionDigits: 1 });
  const two = (n) => (n < 10 ? "0" : "") + n;
  function clock(s) {
    if (s == null) return "–";
    const r = Math.round(s * 1000) / 1000, f = r % 1, w = Math.floor(r);
    const h = Math.floor(w / 3600), m = Math.floor(w / 60) % 60;
    return (h ? h + ":" + two(m) : m) + ":" + two(w % 60) + (f ? String(Math.round(f * 1000) / 1000).slice(1) : "");
  }

  // ---- colours: blue to vermillion, told apart by colour-blind eyes ---------
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const palette = () => dark.matches && !printing
    ? { ink: "#95a3b1", grid: "#232c36", p50: "#9bd3f5", p95: "#3f9be0", p99: "#ff8c55", max: "#7d8a97", main: "#3f9be0", error: "#ff8c55", gap: "#ff8c5540", fill: "#3f9be022", efill: "#ff8c5530", good: "#5ad1ae" }
    : { ink: "#5a6775", grid: "#e8ecf0", p50: "#56b4e9", p95: "#0072b2", p99: "#d55e00", max: "#8c98a4", main: "#0072b2", error: "#d55e00", gap: "#d55e0033", fill: "#0072b214", efill: "#d55e0022", good: "#00795c" };

  // ---- charts ----------------------------------------------------------------
  const charts = new Map(); // element id → chart
  const font = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', Arial, sans-serif";
  const seconds = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

  function width(el) { return printing ? (el.closest(".two") ? 330 : 680) : Math.max(240, el.clientWidth); }
  function height(el) { return el.classList.contains("tall") ? 300 : el.classList.contains("mid") ? 240 : 170; }

  function draw(id, opts, columns) {
    const el = $(id);
    if (!el) return;
    const old = charts.get(id);
    if (old) old.destroy();
    charts.set(id, new uPlot(Object.assign({ width: width(el), height: height(el), pxAlign: 1 }, opts), columns, el));
  }
  function axis(c, values, extra) {
    return Object.assign({ stroke: c.ink, font, grid: { stroke: c.grid, width: 1 }, ticks: { stroke: c.grid, width: 1, size: 4 }, values: (u, s) => s.map(values) }, extra);
  }
  const line = (label, stroke, value, extra) => Object.assign({
    label, stroke, width: 1.6, spanGaps: false,
    points: { show: (u, i) => single(u.data[i]), size: 5 }, value: (u, v) => value(v),
  }, extra);
  const single = (col) => col && col.length < 3;

  // span is the time shown: all of it up to the end of the last interval where
  // there is but one, else what was zoomed to.
  function span(u, lo, hi) {
    const n = data.t.length;
    if (n > 1 && lo != null && hi > lo) return [lo, hi];
    const from = n > 1 ? lo : data.t[0] || 0;
    return [from, from + (data.len[n - 1] || data.dt || 1)];
  }

  function timeOpts(c, values, series, extra) {
    return Object.assign({
      cursor: { sync: { key: "time" }, drag: { x: true, y: false }, focus: { prox: 24 } },
      scales: {
        x: { time: false, range: span },
        y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] },
      },
      axes: [axis(c, clock, { incrs: seconds, space: 56, size: 30 }), axis(c, values, { size: 64, space: 34 })],
      series: [{ label: "at", value: (u, v) => clock(v) }].concat(series),
    }, extra);
  }

  // limits draws the thresholds on response time as dashed lines.
  function limits(id, c) {
    const mine = data.limits.filter((l) => l.id === id);
    return (u) => {
      const x = u.ctx, { left, top, width: w, height: h } = u.bbox, r = devicePixelRatio;
      let last = -Infinity;
      x.save();
      x.setLineDash([5 * r, 4 * r]); x.lineWidth = r; x.textAlign = "right"; x.textBaseline = "bottom";
      x.font = font.replace("12px", Math.round(11 * r) + "px");
      for (const l of mine.slice().sort((a, b) => a.ns - b.ns)) {
        const y = Math.round(u.valToPos(l.ns, "y", true));
        if (!(y >= top && y <= top + h)) continue;
        x.strokeStyle = x.fillStyle = l.bad ? c.error : c.good;
        x.beginPath(); x.moveTo(left, y); x.lineTo(left + w, y); x.stroke();
        if (Math.abs(last - y) > 14 * r) { x.fillText(l.label, left + w - 4 * r, y - 2 * r); last = y; }
      }
      x.restore();
    };
  }

  let logScale = false;
  function drawTime() {
    if (!$("time")) return;
    const c = palette(), id = Number($("time-series").value), row = rows.get(id), tl = row && row.tl, n = data.t.length;
    const none = new Array(n).fill(null);
    const col = (name) => tl ? times(tl[name]) : none;
    const count = tl ? counts(tl.c) : none, failed = tl ? counts(tl.f) : none;
    const unsent = tl && tl.u ? counts(tl.u) : [];
    const per = (v, i) => v == null ? null : v / (data.len[i] || data.dt || 1);
    const opts = timeOpts(c, duration, [
      line("p50", c.p50, duration), line("p95", c.p95, duration), line("p99", c.p99, duration),
      line("max", c.max, duration, { dash: [4, 3], width: 1, show: false }),
      { label: "samples", stroke: "transparent", scale: "n", value: (u, v) => whole(v), points: { show: false }, paths: () => null },
    ], { hooks: { draw: [limits(id, c)] } });
    opts.scales.n = { range: [0, 1], auto: false };
    if (logScale) opts.scales.y = { distr: 3, range: (u, lo, hi) => lo == null || !(lo > 0) ? [1e6, 1e9] : [lo * 0.8, hi * 1.25] };
    draw("c-response", opts, [data.t, col("p50"), col("p95"), col("p99"), col("max"), count]);
    const throughput = id === -1 && data.throughput.length === n && data.throughput.some((v) => v > 0) ? data.throughput : count.map((v, i) => v == null ? null : per(v - (unsent[i] || 0), i));
    draw("c-throughput", timeOpts(c, rate, [line("samples", c.main, rate, { fill: c.fill })]), [data.t, throughput]);
    draw("c-errors", timeOpts(c, rate, [
      line("failed", c.error, rate, { fill: c.efill }),
      { label: "share", stroke: "transparent", scale: "n", value: (u, v) => v == null ? "–" : significant(v * 100, 3) + "%", points: { show: false }, paths: () => null },
    ], { scales: Object.assign({ n: { range: [0, 1], auto: false } }, timeOpts(c, rate, []).scales) }),
    [data.t, failed.map(per), failed.map((f, i) => f == null || !count[i] ? null : f / count[i])]);
    drawLoads(c);
  }

  // drawLoads draws what was planned dashed over what really was; what is missing
  // of a plan is filled in the colour of errors.
  function drawLoads(c) {
    const stepped = { paths: uPlot.paths.stepped({ align: 1 }) }, dash = { dash: [6, 4], width: 1.4 };
    const missing = { bands: [{ series: [2, 1], fill: c.gap, dir: -1 }] }; // from the plan down to what was
    const threads = [], cols = [data.t], a = data.arrivals;
    if (data.closed) {
      threads.push(line("active", c.main, whole, stepped), line("planned", c.ink, whole, Object.assign({}, stepped, dash)));
      cols.push(data.closed, data.planned);
    }
    if (a || !data.closed) {
      threads.push(line(data.closed ? "busy in open groups" : "busy", data.closed ? c.p50 : c.main, whole, stepped));
      cols.push(data.active.map((n, i) => data.closed ? n - data.closed[i] : n));
    }
    draw("c-threads", timeOpts(c, whole, threads, data.closed ? missing : {}), cols);
    if (!a) return;
    const per = (n, i) => n / (data.len[i] || data.dt || 1);
    const rates = [line("started", c.main, rate), line("planned", c.ink, rate, dash)];
    if (a.dropped.some((n) => n > 0)) rates.push(line("dropped", c.error, rate, { fill: c.efill }));
    draw("c-arrivals", timeOpts(c, rate, rates, missing), [data.t, a.started.map(per), a.planned.map(per), a.dropped.map(per)].slice(0, rates.length + 1));
  }

  // ---- metrics ---------------------------------------------------------------
  function drawMetric() {
    const pick = $("metric"), m = pick && data.metrics[Number(pick.value)];
    if (!m) return;
    const c = palette(), number = (v) => v == null ? "–" : significant(v, 4);
    const say = m.type === "counter" ? rate : m.type === "rate" ? (v) => v == null ? "–" : significant(v * 100, 3) + "%" : number;
    $("metric-what").textContent = { counter: "Counted per second", gauge: "Last value", rate: "Share", trend: "Values over time" }[m.type] || "Over time";
    const lines = m.p50 ? [line("p50", c.p50, say), line("p95", c.p95, say), line("max", c.max, say, { dash: [4, 3], width: 1 })] : [line(m.name, c.main, say, { fill: c.fill, spanGaps: m.type === "gauge" })];
    const cols = m.p50 ? [m.p50, m.p95, m.max] : [m.v], opts = timeOpts(c, say, lines);
    opts.scales.y = { range: (u, lo, hi) => lo == null ? [0, 1] : [Math.min(0, lo * 1.08), Math.max(0, hi * 1.08) || 1] };
    draw("c-metric", opts, [data.t].concat(cols));
  }

  // ---- distribution ------------------------------------------------------------
  const CURVE = [0, 50, 90, 99, 99.9, 99.99, 99.999, 99.9999];
  const nines = (p) => -Math.log10(1 - Math.min(p, 99.99999) / 100);

  function measureChoice() {
    const row = rows.get(Number($("dist-series").value)), pick = $("dist-measure"), was = pick.value;
    pick.replaceChildren(...((row && row.d) || []).map((m) => {
      const o = document.createElement("option");
      o.value = o.textContent = m.n;
      return o;
    }));
    if ([...pick.options].some((o) => o.value === was)) pick.value = was;
  }
  function drawDistribution() {
    if (!$("distribution")) return;
    const row = rows.get(Number($("dist-series").value));
    const m = row && row.d && row.d.find((d) => d.n === $("dist-measure").value);
    $("dist-none").hidden = !!m;
    for (const id of ["c-curve", "c-bars"]) {
      $(id).closest("figure").hidden = !m;
      if (!m && charts.has(id)) { charts.get(id).destroy(); charts.delete(id); }
    }
    if (!m) return;
    const c = palette();
    drawCurve(c, m.c || []);
    drawBars(c, m.b || []);
  }
  function drawCurve(c, points) {
    const finite = points.filter((p) => p[0] < 100), top = points.find((p) => p[0] >= 100);
    const xs = finite.map((p) => nines(p[0])), ys = finite.map((p) => p[1]), ps = finite.map((p) => p[0]);
    if (top) { xs.push((xs.length ? xs[xs.length - 1] : 0) + 0.15); ys.push(top[1]); ps.push(100); }
    const name = (p) => p === 0 ? "min" : p >= 100 ? "max" : "p" + p;
    draw("c-curve", {
      cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false, range: (u, lo, hi) => lo === hi ? [lo, lo + 1] : [lo, hi] }, y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
      axes: [axis(c, (x) => { const p = CURVE.find((q) => Math.abs(nines(q) - x) < 1e-9); return p == null ? "" : name(p); },
        { splits: (u) => CURVE.map(nines).filter((x) => x >= u.scales.x.min - 1e-9 && x <= u.scales.x.max + 1e-9), size: 30 }),
      axis(c, duration, { size: 64 })],
      series: [{ label: "percentile", value: (u, v, s, i) => i == null ? "–" : name(ps[i]) }, line("at most", c.main, duration, { fill: c.fill, width: 2 })],
    }, [xs, ys]);
  }
  function drawBars(c, bars) {
    const shown = bars.length ? bars : [[0, 0, 0]];
    draw("c-bars", {
      cursor: { drag: { x: true, y: false } },
      scales: { x: { time: false, range: (u, lo, hi) => [lo - 0.5, hi + 0.5] }, y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.08 : 1] } },
      axes: [axis(c, (i) => Number.isInteger(i) && shown[i] ? duration(shown[i][0]) : "", { space: 64, size: 30, incrs: [1, 2, 5, 10, 20], grid: { show: false } }), axis(c, whole, { size: 64 })],
      series: [{ label: "from – to", value: (u, v, s, i) => i == null ? "–" : duration(shown[i][0]) + " – " + duration(shown[i][1]) },
        line("samples", c.main, whole, { fill: c.main, width: 0, paths: uPlot.paths.bars({ size: [0.86, 60] }), points: { show: false } })],
    }, [shown.map((b, i) => i), shown.map((b) => b[2])]);
  }

  // ---- tables --------------------------------------------------------------------
  function sortable(tbl) {
    const heads = [...tbl.tHead.rows[0].cells], body = tbl.tBodies[0];
    heads.forEach((th, i) => th.querySelector("button").addEventListener("click", () => {
      const text = th.dataset.sort === "text", was = th.getAttribute("aria-sort");
      const up = was ? was === "descending" : text;
      heads.forEach((h) => h.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (tr) => text ? tr.cells[i].textContent : Number(tr.cells[i].dataset.v);
      const sorted = [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b);
        return (x < y ? -1 : x > y ? 1 : 0) * (up ? 1 : -1);
      });
      body.append(...sorted);
    }));
  }
  function filter(input) {
    const body = $(input.dataset.table).tBodies[0];
    input.addEventListener("input", () => {
      const want = input.value.trim().toLowerCase();
      for (const tr of body.rows) tr.hidden = !tr.cells[0].textContent.toLowerCase().includes(want);
    });
  }

  // ---- wiring -----------------------------------------------------------------------
  function drawAll() {
    drawTime();
    drawMetric();
    drawDistribution();
    document.documentElement.dataset.charts = charts.size;
  }
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.querySelectorAll("input.filter").forEach(filter);
  if ($("time")) {
    $("time-series").addEventListener("change", drawTime);
    $("reset").addEventListener("click", () => charts.forEach((u) => u.setData(u.data, true)));
    $("log").addEventListener("click", () => {
      logScale = !logScale;
      $("log").setAttribute("aria-pressed", String(logScale));
      drawTime();
    });
  }
  if ($("metric")) $("metric").addEventListener("change", drawMetric);
  if ($("distribution")) {
    $("dist-series").addEventListener("change", () => { measureChoice(); drawDistribution(); });
    $("dist-measure").addEventListener("change", drawDistribution);
    measureChoice();
  }
  drawAll();

  new ResizeObserver(() => {
    if (printing) return;
    charts.forEach((u, id) => {
      const w = width($(id));
      if (w !== u.width) u.setSize({ width: w, height: u.height });
    });
  }).observe(document.querySelector("main"));
  dark.addEventListener("change", drawAll);
  addEventListener("beforeprint", () => {
    printing = true;
    document.querySelectorAll("details.more, details.source").forEach((d) => { d.open = true; });
    drawAll();
  });
  addEventListener("afterprint", () => { printing = false; drawAll(); });
})();
