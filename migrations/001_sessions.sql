-- Machines that run sessions.
create table terminal_nodes (
  id         uuid primary key,
  name       text not null unique check (name <> '' and length(name) <= 255),
  state      text not null check (state in ('ONLINE', 'OFFLINE')),
  reason     text not null default '',
  since      timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp()
);

-- Terminal workloads. The empty string stands for "none" in text columns.
create table terminal_sessions (
  id               uuid primary key,
  handle           text not null check (handle ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(handle) <= 48),
  title            text not null,
  kind             text not null check (kind in ('claude', 'shell', 'command')),
  node_id          uuid not null references terminal_nodes (id),
  project          text not null default '',
  cwd              text not null check (cwd like '/%'),
  repo             text not null default '',
  branch           text not null default '',
  state            text not null,
  state_reason     text not null default '',
  state_source     text not null check (state_source in ('person', 'tmux', 'exit', 'hook', 'reconciler')),
  state_since      timestamptz not null,
  args             text[] not null default '{}',
  restart_command  text not null default '',
  conversation_id  text not null default '',
  note             text not null default '',
  check_command    text not null default '',
  exit_code        integer,
  exit_signal      text not null default '',
  restarts         integer not null default 0 check (restarts >= 0),
  created_at       timestamptz not null,
  started_at       timestamptz,
  ended_at         timestamptz,
  last_output_at   timestamptz,
  last_attached_at timestamptz,
  closed_at        timestamptz,
  lease_until      timestamptz,

  constraint terminal_sessions_state check (state in ('STARTING', 'RUNNING', 'DETACHED', 'WAITING_FOR_INPUT',
    'STOPPING', 'STOPPED', 'FAILED', 'RECOVERABLE')),
  -- Blank titles, control characters and what changes the direction or the line of a text; see hitchpost.CheckTitle.
  constraint terminal_sessions_title check (length(title) <= 200 and title ~ '[^[:space:]]'
    and title !~ '[\u0001-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]'),
  constraint terminal_sessions_one_exit check (exit_code is null or exit_signal = ''),
  constraint terminal_sessions_exit_ended check ((exit_code is null and exit_signal = '')
    or state in ('STOPPED', 'FAILED', 'RECOVERABLE')),
  constraint terminal_sessions_starting_leased check (state <> 'STARTING' or lease_until is not null),
  constraint terminal_sessions_closed check (closed_at is null or state in ('STOPPED', 'FAILED'))
);

-- A handle is free again once its session is closed.
create unique index terminal_sessions_open_handle on terminal_sessions (handle) where closed_at is null;
create index terminal_sessions_created on terminal_sessions (created_at, id);
create index terminal_sessions_open_node on terminal_sessions (node_id) where closed_at is null;

-- Who acts. What they may do hangs on the key they come with.
create table terminal_actors (
  name       text primary key check (name <> '' and length(name) <= 255),
  created_at timestamptz not null default clock_timestamp()
);

create table terminal_keys (
  fingerprint    text primary key check (fingerprint like 'SHA256:_%'),
  authorized_key text not null unique check (authorized_key <> '' and authorized_key !~ '[\r\n]'),
  type           text not null check (type <> ''),
  comment        text not null default '',
  actor          text not null references terminal_actors (name),
  role           text not null check (role in ('admin', 'operator', 'viewer')),
  touch_optional boolean not null default false,
  created_at     timestamptz not null default clock_timestamp(),
  expires_at     timestamptz,
  revoked_at     timestamptz,
  last_used_at   timestamptz,
  last_session   uuid references terminal_sessions (id)
);

-- Clients attached to sessions; detached_at is null while they are. Older rows tell a returning client where it was.
create table terminal_attachments (
  id          uuid primary key,
  session_id  uuid not null references terminal_sessions (id),
  node_id     uuid not null references terminal_nodes (id),
  actor       text not null default '',
  fingerprint text not null default '',
  client      text not null default '' check (length(client) <= 255),
  read_only   boolean not null default false,
  attached_at timestamptz not null default clock_timestamp(),
  detached_at timestamptz
);

create index terminal_attachments_open on terminal_attachments (session_id) where detached_at is null;
create index terminal_attachments_open_node on terminal_attachments (node_id) where detached_at is null;
create index terminal_attachments_client on terminal_attachments (client, attached_at desc) where client <> '';
