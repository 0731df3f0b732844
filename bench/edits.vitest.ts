import { dirname } from 'node:path'
import { defineConfig } from 'vitest/config'

// The property test alone, without the project's own set-up, which builds the program.
export default defineConfig({
  test: {
    root: dirname(import.meta.dirname),
    include: ['src/tools/edit/*.property.test.ts'],
    testTimeout: 600_000,
  },
})
