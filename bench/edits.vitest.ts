import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { root: '..', include: ['src/tools/edit/*.property.test.ts'] } })
