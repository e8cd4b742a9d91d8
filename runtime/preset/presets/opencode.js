// A plugin that tells Hitchpost what opencode is about. It is read by opencode alone, waits for nobody and never fails.
import { spawn } from "node:child_process"

const asked = ["permission.asked", "permission.replied", "question.asked", "question.replied", "question.rejected"]

export const Hitchpost = async () => {
  let argv = []
  try {
    argv = JSON.parse(process.env.HITCHPOST_HOOK ?? "[]")
  } catch {}
  if (argv.length === 0) return {}

  const children = new Set() // sessions of subagents: their end is not the end of a turn
  let told = ""
  let last = Promise.resolve() // one at a time, so that what comes later is later

  const tell = (news) => {
    const text = JSON.stringify(news)
    if (text === told) return
    told = text
    last = last.then(() => new Promise((done) => {
      try {
        const child = spawn(argv[0], argv.slice(1), { stdio: ["pipe", "ignore", "ignore"] })
        child.on("error", done)
        child.on("close", done)
        child.stdin.on("error", () => {})
        child.stdin.end(text)
      } catch {
        done()
      }
    }))
  }

  return {
    event: async ({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && about.info?.parentID) children.add(about.info.id)
      const child = children.has(about.sessionID)
      const news = child ? {} : { conversation: about.sessionID }
      if (event.type === "session.status" && !child) {
        tell({ event: about.status?.type, ...news })
      } else if (asked.includes(event.type)) {
        tell({ event: event.type, detail: about.permission ?? about.questions?.[0]?.header, ...news })
      }
    },
  }
}
