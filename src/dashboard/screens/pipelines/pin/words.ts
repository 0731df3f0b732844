import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    pinned: 'Pinned output',
    pinnedAbout: 'Said instead of doing the step when the pipeline is rehearsed. A real run never uses it.',
    pinLast: 'Pin last output',
    unpin: 'Remove',
    nothingToPin: 'The run that is shown has no output of it.',
    cannotPin: 'Its output contains {{ and cannot be kept in the file.',
    rehearse: 'Rehearse',
    rehearseAbout:
      'Panels play their rehearsals, and steps with a pinned output say it. Other tools are called as always.',
    default: 'Continue with',
    defaultAbout: 'What it hands over when it fails. Empty: nothing.',
    raw: 'Raw',
  },
  ja: {
    pinned: '固定した出力',
    pinnedAbout:
      'パイプラインをリハーサルするとき、ステップを行う代わりにこの出力を返します。本番の実行では使いません。',
    pinLast: '最後の出力を固定',
    unpin: '解除',
    nothingToPin: '表示中の実行に、このステップの出力がありません。',
    cannotPin: '出力に {{ が含まれるため、ファイルに保存できません。',
    rehearse: 'リハーサル',
    rehearseAbout:
      'パネルはリハーサルを再生し、出力を固定したステップはそれを返します。ほかのツールは通常どおり呼び出されます。',
    default: '続行時の出力',
    defaultAbout: '失敗したときに渡す内容。空なら何も渡しません。',
    raw: '生データ',
  },
  ko: {
    pinned: '고정한 출력',
    pinnedAbout:
      '파이프라인을 리허설할 때 단계를 수행하는 대신 이 출력을 내놓습니다. 실제 실행에서는 쓰지 않습니다.',
    pinLast: '마지막 출력 고정',
    unpin: '해제',
    nothingToPin: '표시된 실행에 이 단계의 출력이 없습니다.',
    cannotPin: '출력에 {{가 들어 있어 파일에 저장할 수 없습니다.',
    rehearse: '리허설',
    rehearseAbout:
      '패널은 리허설을 재생하고, 출력을 고정한 단계는 그것을 내놓습니다. 다른 도구는 평소처럼 호출됩니다.',
    default: '계속할 때의 출력',
    defaultAbout: '실패했을 때 넘길 내용. 비우면 아무것도 넘기지 않습니다.',
    raw: '원본 데이터',
  },
})
