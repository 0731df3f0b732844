/** One row of `agents`. */
export interface AgentRecord {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly system: string | null
  readonly provider: string
  readonly providerId: string
  /** The vendor's name of it; `provider` says whose. */
  readonly model: string
  readonly temperature: number
  readonly maxTokens: number
  /** The panel that this agent mirrors, and the hash of the text that a person looked at. */
  readonly sourcePath: string | null
  readonly sourceHash: string | null
  readonly createdAt: Date
}
