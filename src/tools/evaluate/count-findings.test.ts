import { expect, test } from 'vitest'
import { countFindings } from './count-findings.ts'

test.each([
  [
    'tsc',
    "a.ts(1,2): error TS2304: Cannot find name 'x'.\nb.ts(3,4): error TS2322: Type.\n",
    { errors: 2, warnings: 0 },
  ],
  [
    'tsc, pretty',
    'src/a.ts:1:2 - error TS2304: x\n\nFound 1 error in src/a.ts:1\n',
    { errors: 1, warnings: 0 },
  ],
  ['eslint', '\n✖ 12 problems (10 errors, 2 warnings)\n', { errors: 10, warnings: 2 }],
  ['biome', 'Checked 5 files in 9ms.\nFound 3 errors.\nFound 1 warning.\n', { errors: 3, warnings: 1 }],
  [
    'vitest',
    '\u001b[2m Test Files \u001b[22m 1 failed | 2 passed (3)\n\u001b[2m      Tests \u001b[22m 2 failed | 7 passed | 1 skipped (10)\n',
    { tests: { passed: 7, failed: 2, skipped: 1 } },
  ],
  ['jest', 'Tests:       1 failed, 5 passed, 6 total\n', { tests: { passed: 5, failed: 1, skipped: 0 } }],
  [
    'pytest',
    '=== 1 failed, 5 passed, 2 skipped, 3 warnings in 0.12s ===\n',
    { tests: { passed: 5, failed: 1, skipped: 2 }, warnings: 3 },
  ],
  ['pytest, quiet', '5 passed in 0.12s\n', { tests: { passed: 5, failed: 0, skipped: 0 } }],
  [
    'cargo build',
    'warning: `x` (lib) generated 2 warnings\nerror: could not compile `x` (bin "x") due to 3 previous errors; 1 warning emitted\n',
    { errors: 3, warnings: 3 },
  ],
  [
    'cargo test',
    'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n',
    { tests: { passed: 4, failed: 2, skipped: 1 } },
  ],
  [
    'go test',
    '--- FAIL: TestA (0.00s)\nFAIL\nok  \tx/y\t0.1s\n',
    { tests: { passed: 1, failed: 1, skipped: 0 } },
  ],
  ['go vet', './a.go:3:4: undefined: x\n./b.go:1:1: bad\n', { errors: 2, warnings: 0 }],
  [
    'mypy',
    'a.py:1: error: x\nFound 2 errors in 1 file (checked 3 source files)\n',
    { errors: 2, warnings: 0 },
  ],
  [
    'node --test, TAP',
    'TAP version 13\n# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 1\n  ...\n# Subtest: b\nnot ok 2 - b\n  ---\n  stack: |-\n    x\n  ...\n1..2\n# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 50\n',
    { tests: { passed: 1, failed: 1, skipped: 0 } },
  ],
  [
    'node --test, spec',
    '✖ b (1ms)\nℹ tests 3\nℹ suites 0\nℹ pass 1\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 50\n',
    { tests: { passed: 1, failed: 1, skipped: 1 } },
  ],
  [
    'TAP of another runner',
    'TAP version 14\n1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP no network\n',
    { tests: { passed: 1, failed: 1, skipped: 1 } },
  ],
  ['lines that only begin as those of go or TAP', 'ok then\nFAIL fast\n--- a/file\nok 1\n', {}],
  ['something else', 'all good\n', {}],
])('%s', (_, output, expected) => {
  expect(countFindings(output)).toEqual(expected)
})

test('long hostile output is counted in no time', () => {
  expect(countFindings('='.repeat(2_000_000))).toEqual({})
  expect(countFindings('1 passed '.repeat(300_000))).toBeDefined()
})
