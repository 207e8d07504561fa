// The time that a page sees: Date, timers and frames stand still until run() moves them on. What a page draws then
// does not depend on how fast the machine is, and animations end without anybody waiting for them. Runs before the
// page's own scripts in every frame; keeps the originals of what it uses, since a page may replace them.
(() => {
  const NAME = "__deepchartClock";
  if (window[NAME]) return;
  const START = 1704067200000; // 2024-01-01
  const LOOK_MS = 0.02; // time goes on a little with every look at it, so that busy waits end, always at the same count
  const COARSE_FRAME_MS = 100; // an animation by time ends after few frames …
  const COARSE_UNTIL_MS = 2000;
  const FONTS_MS = 2000; // real time
  const FRAME_MS = 16; // … one that counts frames gets as many as on a screen
  const realFrame = window.requestAnimationFrame.bind(window);
  const realTimeout = window.setTimeout.bind(window);
  const realNow = performance.now.bind(performance);
  const RealDate = Date;
  const channel = new MessageChannel();
  const post = channel.port2.postMessage.bind(channel.port2);
  const { apply, construct } = Reflect;

  let now = 0;
  let lastId = 0;
  let timers = [];
  let frames = [];
  const known = Object.create(null); // what may still be called off, by number
  const look = () => (now += LOOK_MS);
  const today = () => Math.floor(START + look());

  const FakeDate = function Date(...parts) {
    if (!new.target) return construct(RealDate, [today()]).toString();
    return construct(RealDate, parts.length ? parts : [today()], new.target);
  };
  Object.defineProperties(FakeDate, { length: { value: 7 }, prototype: { value: RealDate.prototype, writable: false } });
  Object.assign(FakeDate, { parse: RealDate.parse, UTC: RealDate.UTC, now: today });
  RealDate.prototype.constructor = FakeDate;
  window.Date = FakeDate;
  performance.now = look;
  const format = Object.getOwnPropertyDescriptor(Intl.DateTimeFormat.prototype, "format");
  Object.defineProperty(Intl.DateTimeFormat.prototype, "format", {
    ...format,
    get() {
      const bound = apply(format.get, this, []);
      return (date) => bound(date === undefined ? today() : date);
    },
  });

  const delayOf = (delay) => Math.max(Number(delay) || 0, 0);
  const start = (callback, delay, parts, every) => {
    lastId += 1;
    timers[timers.length] = known[lastId] = { id: lastId, at: now + delayOf(delay), callback, parts, every };
    return lastId;
  };
  const stop = (id) => {
    if (typeof id === "number" && known[id]) known[id].off = true;
  };
  window.setTimeout = (callback, delay, ...parts) => start(callback, delay, parts, 0);
  window.setInterval = (callback, delay, ...parts) => start(callback, delay, parts, Math.max(delayOf(delay), 4));
  window.clearTimeout = window.clearInterval = stop;
  window.requestAnimationFrame = (callback) => {
    lastId += 1;
    frames[frames.length] = known[lastId] = { id: lastId, callback };
    return lastId;
  };
  window.cancelAnimationFrame = stop;
  window.requestIdleCallback = (callback) => start(() => callback({ didTimeout: false, timeRemaining: () => 10 }), 1, [], 0);
  window.cancelIdleCallback = stop;

  const call = (callback, parts) => {
    try {
      if (typeof callback === "function") apply(callback, window, parts);
      else (0, eval)(String(callback));
    } catch (error) {
      reportError(error);
    }
  };
  // Promises, messages and what the network answers come between two callbacks, as they would.
  let wake = () => {};
  channel.port1.onmessage = () => wake();
  const turn = () => new Promise((done) => { wake = done; post(0); });
  const earliest = () => {
    let found = null;
    let kept = 0;
    for (let at = 0; at < timers.length; at += 1) {
      const timer = timers[at];
      if (timer.off) {
        delete known[timer.id];
        continue;
      }
      timers[kept] = timer;
      kept += 1;
      if (!found || timer.at < found.at) found = timer;
    }
    timers.length = kept;
    return found;
  };
  const nextFrame = () => {
    const step = now < COARSE_UNTIL_MS ? COARSE_FRAME_MS : FRAME_MS;
    return frames.length ? now - (now % step) + step : Infinity;
  };
  // Moves time on to ``until`` while anything waits for it; ends early after ``wallMs`` of real time. Returns how many
  // callbacks were called.
  const run = async (until, wallMs) => {
    const stopAt = realNow() + wallMs;
    let called = 0;
    while (realNow() < stopAt) {
      const timer = earliest();
      const frameAt = nextFrame();
      const at = Math.min(frameAt, timer ? timer.at : Infinity);
      if (at > until) break;
      now = Math.max(now, at);
      called += 1;
      if (timer && timer.at <= frameAt) {
        timer.at = now + timer.every;
        timer.off = !timer.every;
        call(timer.callback, timer.parts);
      } else {
        const due = frames;
        frames = [];
        for (let each = 0; each < due.length; each += 1) {
          delete known[due[each].id];
          if (!due[each].off) call(due[each].callback, [now]);
        }
      }
      await turn();
    }
    return called;
  };
  // Animations of style sheets and of SVG run by the browser's own clock: they are put at their end. Returns whether
  // there were any.
  const finishAnimations = (untilS) => {
    let found = 0;
    for (const animation of document.getAnimations()) {
      const finite = animation.effect && Number.isFinite(animation.effect.getComputedTiming().endTime);
      found += finite ? 1 : 0;
      if (finite) animation.finish();
      else animation.cancel();
    }
    for (const svg of document.querySelectorAll("svg")) {
      if (svg.animationsPaused() || !svg.querySelector("animate, animateTransform, animateMotion, set")) continue;
      svg.pauseAnimations();
      svg.setCurrentTime(untilS);
      found += 1;
    }
    return found;
  };
  // Two frames of the browser itself: sizes are observed, fonts asked for, what was drawn is shown.
  const shown = () => new Promise((done) => {
    realTimeout(done, 500);
    realFrame(() => realFrame(done));
  });
  // One pass; returns how much happened in it, 0 for a page that is finished.
  const settle = async (untilMs, wallMs) => {
    const called = await run(untilMs, wallMs);
    let animated = 0;
    try {
      animated = finishAnimations(untilMs / 1000);
      if (document.fonts.status === "loading") {
        await new Promise((done) => { realTimeout(done, FONTS_MS); document.fonts.ready.then(done, done); });
      }
      if (document.activeElement && document.activeElement !== document.body) document.activeElement.blur();
    } catch (error) {
      animated = 0; // the page has replaced what this asks
    }
    await shown();
    return called + animated;
  };
  Object.defineProperty(window, NAME, { value: settle });
  window.close = () => {};
  window.alert = () => {};
  window.confirm = () => false;
  window.prompt = () => null;
  window.print = () => {};
})();
