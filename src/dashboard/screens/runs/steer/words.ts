import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    stopAfterStep: 'Stop after this step',
    stopping: 'stopping…',
    pausing: 'pausing…',
    stoppingAfterStep: 'stops after this step',
    goesOnFrom: 'It can go on from step {step}.',
    cutOff: 'Cut off before they had an effect: {calls}',
    unclear: 'Cut off while they ran, so they may have had an effect: {calls}',
    pause: 'Pause',
    nothingCut: 'Stopped. No call was cut off.',
  },
  ja: {
    stopAfterStep: 'このステップの後で停止',
    stopping: '停止中…',
    pausing: '一時停止中…',
    stoppingAfterStep: 'このステップの後で停止します',
    goesOnFrom: 'ステップ {step} から再開できます。',
    cutOff: '効果が生じる前に打ち切られました: {calls}',
    unclear: '実行中に打ち切られたため、効果が生じた可能性があります: {calls}',
    pause: '一時停止',
    nothingCut: '停止しました。打ち切られた呼び出しはありません。',
  },
  ko: {
    stopAfterStep: '이 단계 후 중지',
    stopping: '중지하는 중…',
    pausing: '일시 중지하는 중…',
    stoppingAfterStep: '이 단계 후에 중지됩니다',
    goesOnFrom: '{step}단계부터 계속할 수 있습니다.',
    cutOff: '효과가 생기기 전에 끊겼습니다: {calls}',
    unclear: '실행 중에 끊겨 효과가 생겼을 수 있습니다: {calls}',
    pause: '일시 중지',
    nothingCut: '중지했습니다. 끊긴 호출은 없습니다.',
  },
})
