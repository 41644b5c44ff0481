/** A layer of an Express router: middleware, or a route. */
interface Layer {
  readonly route?: unknown;
}

/** An Express application, as far as it is used here. */
interface ExpressLike {
  readonly router: { readonly stack: Layer[] };
}

/**
 * Moves the route that was added last before all other routes, and leaves it behind the middleware.
 *
 * Express takes the first route that matches, and a host may have one that matches everything, such as the page of a
 * single-page application.
 */
export function moveLastRouteForward({ router: { stack } }: ExpressLike): void {
  const last = stack.pop();
  const firstRoute = stack.findIndex(({ route }) => route !== undefined);
  if (last) stack.splice(firstRoute < 0 ? stack.length : firstRoute, 0, last);
}
