import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core'

// Mantine's own colours fail WCAG AA in 24 places. These shades and variables pass it in both schemes; the browser tests
// look at every screen with axe.

const FONTS =
  'system-ui, -apple-system, "Segoe UI", "Hiragino Sans", "Yu Gothic UI", "Noto Sans JP", "Apple SD Gothic Neo", ' +
  '"Malgun Gothic", "Noto Sans KR", "Noto Sans CJK JP", sans-serif'

/** As Mantine's own, with a little of the blue of the surfaces below. */
const DARK: MantineColorsTuple = [
  ...(['#c9cdd6', '#b4b9c5', '#8a909e', '#6b7180', '#454b59'] as const),
  ...(['#363b47', '#272b34', '#1d2027', '#181b21', '#121419'] as const),
]

export const theme = createTheme({
  primaryColor: 'indigo',
  colors: { dark: DARK },
  primaryShade: { light: 8, dark: 8 },
  autoContrast: true,
  luminanceThreshold: 0.18,
  fontFamily: FONTS,
  fontFamilyMonospace:
    'ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "Noto Sans Mono", monospace',
  headings: {
    fontFamily: FONTS,
    fontWeight: '650',
    sizes: { h1: { fontSize: '1.375rem' }, h2: { fontSize: '1.0625rem' }, h3: { fontSize: '0.9375rem' } },
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    NumberInput: { defaultProps: { hideControls: true } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Slider: { defaultProps: { thumbSize: 26 } },
    Badge: { defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fw: 600 } },
    Tooltip: { defaultProps: { withArrow: true, openDelay: 300, multiline: true, maw: 360 } },
    Tabs: { styles: { tab: { paddingInline: 10 } } },
    Paper: { defaultProps: { withBorder: true } },
    Drawer: { defaultProps: { position: 'right', size: 'lg' } },
  },
})

const COLOURS = [
  ...['red', 'pink', 'grape', 'violet', 'indigo', 'blue', 'cyan', 'teal', 'green', 'lime', 'yellow'],
  ...['orange', 'gray'],
]

export const cssVariables: CSSVariablesResolver = ({ colors }) => {
  const shade = (colour: string, index: number): string => colors[colour]?.[index] ?? 'inherit'
  const lightText = COLOURS.map(colour => [
    `--mantine-color-${colour}-light-color`,
    `color-mix(in srgb, ${shade(colour, 9)}, black 35%)`,
  ])
  return {
    variables: {},
    light: {
      '--mantine-color-body': '#fbfbfd',
      '--mantine-color-dimmed': shade('gray', 7),
      '--mantine-color-placeholder': shade('gray', 7),
      '--mantine-color-error': shade('red', 9),
      '--mantine-color-anchor': shade('indigo', 9),
      ...Object.fromEntries(lightText),
      '--kogu-surface': '#ffffff',
      '--kogu-sunken': shade('gray', 1),
      '--kogu-line': shade('gray', 3),
      '--kogu-added': '#d3f9d8',
      '--kogu-added-text': '#0b3d17',
      '--kogu-removed': '#ffe3e3',
      '--kogu-removed-text': '#5c0b0b',
    },
    dark: {
      '--mantine-color-body': '#15171c',
      '--mantine-color-dimmed': shade('dark', 1),
      '--mantine-color-placeholder': shade('dark', 1),
      '--mantine-color-error': shade('red', 4),
      '--mantine-color-anchor': shade('indigo', 3),
      '--kogu-surface': '#1d2027',
      '--kogu-sunken': '#121419',
      '--kogu-line': '#343842',
      '--kogu-added': '#12351d',
      '--kogu-added-text': '#b2f2bb',
      '--kogu-removed': '#43161a',
      '--kogu-removed-text': '#ffc9c9',
    },
  }
}
