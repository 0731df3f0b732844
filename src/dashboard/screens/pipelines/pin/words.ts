import { defineWords } from '../../../i18n/words.ts'

export const words = defineWords({
  en: {
    pinned: 'Pinned output',
    pinnedAbout: 'Used instead of running the step in rehearsals. Real runs never use it.',
    pinLast: 'Pin last output',
    unpin: 'Unpin',
    nothingToPin: 'The selected run has no output for this step.',
    cannotPin: 'The output contains {{, so it cannot be saved in the file.',
    rehearse: 'Rehearse',
    rehearseAbout:
      'Panels use their rehearsals, and pinned steps return their pinned output. Other tools run as usual.',
    default: 'Continue with',
    defaultAbout: 'Output to pass on when the step fails. Leave empty for none.',
    raw: 'Raw',
  },
  ja: {
    pinned: '固定した出力',
    pinnedAbout: 'リハーサルでは、ステップを実行する代わりにこの出力を使います。本番の実行では使いません。',
    pinLast: '最後の出力を固定',
    unpin: '固定を解除',
    nothingToPin: '表示中の実行に、このステップの出力がありません。',
    cannotPin: '出力に {{ が含まれるため、ファイルに保存できません。',
    rehearse: 'リハーサル',
    rehearseAbout:
      'パネルはリハーサルを再生し、出力を固定したステップはその出力を返します。ほかのツールは通常どおり実行されます。',
    default: '失敗時の出力',
    defaultAbout: 'ステップが失敗したときに渡す出力です。空欄の場合は何も渡しません。',
    raw: '生データ',
  },
  ko: {
    pinned: '고정한 출력',
    pinnedAbout: '리허설에서는 단계를 실행하는 대신 이 출력을 사용합니다. 실제 실행에서는 사용하지 않습니다.',
    pinLast: '마지막 출력 고정',
    unpin: '고정 해제',
    nothingToPin: '표시된 실행에 이 단계의 출력이 없습니다.',
    cannotPin: '출력에 {{가 들어 있어 파일에 저장할 수 없습니다.',
    rehearse: '리허설',
    rehearseAbout:
      '패널은 리허설을 재생하고, 출력을 고정한 단계는 그 출력을 돌려줍니다. 다른 도구는 평소처럼 실행됩니다.',
    default: '실패 시 출력',
    defaultAbout: '단계가 실패했을 때 전달할 출력입니다. 비워 두면 아무것도 전달하지 않습니다.',
    raw: '원본 데이터',
  },
})
