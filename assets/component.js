// The function that draws a component: a view stays with its element until that is taken away. `update(data, setTriggerValue)` is called with each
// change; data that comes as bytes is JSON.

export const component = (View) => ({ data, parentElement, setTriggerValue }) => {
  const view = (parentElement.hopscopeView ??= new View(parentElement));
  const isBytes = data instanceof Uint8Array || data instanceof ArrayBuffer;
  view.update(isBytes ? JSON.parse(new TextDecoder().decode(data)) : data ?? {}, setTriggerValue);
  return () => {
    view.destroy();
    delete parentElement.hopscopeView;
  };
};
