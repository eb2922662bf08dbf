/** Calls a listener for each event of the window of one type; returns a function that removes the listener. */
export function listenToWindow<T extends keyof WindowEventMap>(
  type: T,
  listener: (event: WindowEventMap[T]) => void,
  options?: AddEventListenerOptions,
): () => void {
  addEventListener(type, listener, options);
  return () => removeEventListener(type, listener, options);
}
