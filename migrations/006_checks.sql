-- The last run of each session's check, with what it saw. Its task is forgotten in time; the result stays.
create table terminal_checks (
  session_id  uuid primary key references terminal_sessions (id),
  task_id     uuid not null unique,
  command     text not null check (command <> ''),
  state       text not null,
  exit_code   integer,
  exit_signal text not null default '',
  started_at  timestamptz not null,
  ended_at    timestamptz,
  commit_id   text not null default '', -- empty where it is not known or there was none
  tree_id     text not null default '', -- names the contents of all files as they were; see hitchpost.Check
  dirty       boolean not null default false,
  branch      text not null default '',
  unseen      text not null default '', -- why commit and tree are not known

  constraint terminal_checks_state check (state in ('RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST')),
  constraint terminal_checks_one_exit check (exit_code is null or exit_signal = '')
);
