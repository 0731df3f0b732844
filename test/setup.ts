import fc from 'fast-check'

// The suite says the same every time; other seeds are for looking further by hand: KOGU_FUZZ_SEED=1 npm test.
fc.configureGlobal({ seed: Number(process.env.KOGU_FUZZ_SEED ?? 20_261_115) })
