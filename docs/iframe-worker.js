// Search from a folder. Browsers start no workers for pages opened as file://, so there the script of a worker runs in a hidden frame.
// The site's generator looks for a script of this name, and would otherwise link to one on the network.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    onmessage = null;
    onerror = null;
    #frame = document.createElement("iframe");
    #waiting = []; // messages for a script that is not loaded yet

    constructor(url) {
      super();
      this.#frame.hidden = true;
      document.documentElement.append(this.#frame);
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => this.#tell(this, new MessageEvent("message", { data: structuredClone(data) }));
      const script = inside.document.createElement("script");
      script.onload = () => this.#start();
      script.onerror = () => this.#tell(this, new Event("error"));
      script.src = new URL(url, location);
      inside.document.body.append(script);
    }

    postMessage(data) {
      if (this.#waiting) return void this.#waiting.push(data);
      const inside = this.#frame.contentWindow;
      this.#tell(inside, new inside.MessageEvent("message", { data: inside.structuredClone(data) }));
    }

    terminate() {
      this.#frame.remove();
    }

    #start() {
      const waiting = this.#waiting;
      this.#waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    }

    // Later, as a worker would; a window calls its own handler, `onmessage`, and we call ours.
    #tell(target, event) {
      setTimeout(() => {
        if (!this.#frame.isConnected) return;
        target.dispatchEvent(event);
        if (target === this) this[`on${event.type}`]?.(event);
      });
    }
  };
}
