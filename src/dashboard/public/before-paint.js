// Sets colours and language before anything is painted. A file of its own, because the page allows no inline script.
;(() => {
  const chosen = localStorage.getItem('mantine-color-scheme-value')
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const scheme = chosen === 'light' || chosen === 'dark' ? chosen : dark ? 'dark' : 'light'
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)
  const language = localStorage.getItem('kogu-language') || navigator.language.slice(0, 2)
  document.documentElement.lang = language === 'ja' || language === 'ko' ? language : 'en'
})()
