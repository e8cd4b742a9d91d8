-- Background commands. Their logs and the records of their ends are files of the node; see hitchpost.Task.
create table terminal_tasks (
  id             uuid primary key,
  name           text not null default '' check (length(name) <= 200),
  session_id     uuid references terminal_sessions (id),
  node_id        uuid not null references terminal_nodes (id),
  cwd            text not null check (cwd like '/%'),
  argv           text[] not null check (cardinality(argv) > 0),
  state          text not null,
  state_reason   text not null default '',
  exit_code      integer,
  exit_signal    text not null default '',
  timed_out      boolean not null default false,
  actor          text not null default '',
  timeout_ms     bigint not null default 0 check (timeout_ms >= 0), -- 0: none
  started_at     timestamptz not null,
  ended_at       timestamptz,
  log_bytes      bigint not null default 0 check (log_bytes >= 0),
  user_seconds   double precision,
  system_seconds double precision,
  max_rss_bytes  bigint,

  constraint terminal_tasks_state check (state in ('RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'LOST')),
  constraint terminal_tasks_one_exit check (exit_code is null or exit_signal = ''),
  constraint terminal_tasks_exit_ended check ((exit_code is null and exit_signal = '' and not timed_out)
    or state in ('SUCCEEDED', 'FAILED', 'CANCELLED')),
  constraint terminal_tasks_well check (state <> 'SUCCEEDED' or exit_code = 0),
  -- Nobody saw when a lost one ended.
  constraint terminal_tasks_ended check ((ended_at is null) = (state in ('RUNNING', 'LOST'))),
  constraint terminal_tasks_usage check ((user_seconds is null) = (system_seconds is null)
    and (user_seconds is null) = (max_rss_bytes is null))
);

create index terminal_tasks_running on terminal_tasks (node_id) where state = 'RUNNING';
create index terminal_tasks_session on terminal_tasks (session_id) where session_id is not null;

-- A task runs once: what has ended stays as it is, and what a task is is never changed.
create function terminal_tasks_once() returns trigger language plpgsql as $$
begin
  if old.state <> 'RUNNING' or (new.id, new.argv, new.cwd, new.node_id) is distinct from
    (old.id, old.argv, old.cwd, old.node_id)
  then
    raise exception 'a task that has ended stays as it is' using errcode = 'restrict_violation';
  end if;
  return new;
end
$$;

create trigger terminal_tasks_once before update on terminal_tasks
  for each row execute function terminal_tasks_once();
