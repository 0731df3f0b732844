/** A server that several Kogus use at once, such as PostgreSQL. */
export interface SharedServer {
  /** Kogu's own folder for it: lock, log, and the note that says where its sockets are. */
  readonly folder: string
  readonly file: string
  /** `{place}` becomes the folder of its sockets; `{port}` a free port of the loopback address. */
  readonly args: readonly string[]
  /** It can be asked once this path exists; `{place}` as above. Defaults to when its pid file says so, as PostgreSQL's does. */
  readonly ready?: string
  /** Its own pid file: a server that outlived its keeper is stopped before a new one starts. */
  readonly pidFile: string
  /** How long it stays when nobody uses it. */
  readonly lingerMs: number
}

/** What the keeper says to each user, on one line. */
export type FromKeeper = { ready: true; place: string } | { ready: false; message: string }
