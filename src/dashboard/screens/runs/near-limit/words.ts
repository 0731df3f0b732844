import { defineWords } from '../../../i18n/words.ts'

/** By the limit that a run comes close to. */
export const words = defineWords({
  en: {
    max_turns: 'Close to its limit: {used} of {most} turns used',
    max_cost: 'Close to its limit: {used} of {most} USD spent',
    max_tokens: 'Close to its limit: {used} of {most} tokens used',
    max_time: 'Close to its limit: {used} of {most} seconds used',
    max_calls: 'Close to its limit: {used} of {most} calls made',
  },
  ja: {
    max_turns: '上限が近づいています：ターン {used}/{most}',
    max_cost: '上限が近づいています：費用 {used}/{most} USD',
    max_tokens: '上限が近づいています：トークン {used}/{most}',
    max_time: '上限が近づいています：時間 {used}/{most} 秒',
    max_calls: '上限が近づいています：呼び出し {used}/{most}',
  },
  ko: {
    max_turns: '한도에 가까워졌습니다: 턴 {used}/{most}',
    max_cost: '한도에 가까워졌습니다: 비용 {used}/{most} USD',
    max_tokens: '한도에 가까워졌습니다: 토큰 {used}/{most}',
    max_time: '한도에 가까워졌습니다: 시간 {used}/{most}초',
    max_calls: '한도에 가까워졌습니다: 호출 {used}/{most}',
  },
})
