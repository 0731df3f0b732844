/** Machines that a command names: URLs anywhere, `host:path` of copy programs and git, hosts of ssh and the like. */
export function hostsOf(program: string, words: string[]): string[] {
  const found = new Set<string>()
  for (const word of words) {
    const url = /(?:^|[=@])((?:https?|ftps?|ssh|git|wss?|rsync|sftp|tcp|ldap|s3|gs):\/\/[^\s'"<>]+)/i.exec(
      word,
    )?.[1]
    if (url !== undefined) found.add(url)
  }
  const operands = words.filter(word => !word.startsWith('-'))
  if (/^(?:git|scp|rsync|sftp|rclone)$/.test(program)) {
    for (const word of operands) {
      const remote = /^(?:([\w.-]+)@)?([\w.-]+\.[\w-]+|\[[0-9a-f:]+\]):(?!\/\/)[^\s]*$/i.exec(word)
      if (remote?.[2] !== undefined) found.add(`ssh://${remote[2]}`)
      else if (program !== 'git' && /^[\w.@-]+:[^\s]*$/.test(word))
        found.add(`ssh://${word.split(':')[0]?.replace(/^.*@/, '')}`)
    }
  }
  if (
    /^(?:ssh|mosh|sftp|telnet|ftp|nc|ncat|netcat|ping|ping6|dig|nslookup|host|whois|traceroute)$/.test(
      program,
    )
  ) {
    const host = firstHost(program, words)
    if (host !== null) found.add(`${/^(?:ssh|mosh|sftp)$/.test(program) ? 'ssh' : 'tcp'}://${host}`)
  }
  if (/^(?:curl|wget|http|https|xh)$/.test(program) && found.size === 0) {
    const bare = operands.find(word =>
      /^(?:localhost|[\w-]+(?:\.[\w-]+)+|\d+(?:\.\d+){3}|\[[0-9a-f:]+\])(?::\d+)?(?:\/\S*)?$/i.test(word),
    )
    if (bare !== undefined) found.add(`http://${bare}`)
  }
  return [...found]
}

function firstHost(program: string, words: string[]): string | null {
  const values = program === 'ssh' || program === 'mosh' ? /^-[bcDEeFIiJLlmOopQRSWw]$/ : /^-[cistpwWqI]$/
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (values.test(word)) i += 1
    else if (!word.startsWith('-') && !word.startsWith('+')) return word.replace(/^.*@/, '') || null
  }
  return null
}
