/** Why a template cannot be used, with the place in it. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly offset: number
  constructor(message: string, offset: number) {
    super(message)
    this.offset = offset
  }
}
