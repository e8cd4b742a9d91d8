-- Lines of sessions' lives, appended and never edited.
create table terminal_events (
  id          bigint generated always as identity primary key,
  session_id  uuid references terminal_sessions (id), -- null where it is not of a session
  at          timestamptz not null default clock_timestamp(),
  change      text not null check (change <> '' and length(change) <= 64),
  from_state  text not null default '',
  to_state    text not null default '',
  actor       text not null default '',               -- empty for the service itself
  fingerprint text not null default '',
  source      text not null check (source in ('person', 'tmux', 'exit', 'hook', 'reconciler')),
  reason      text not null default '',

  -- hitchpost.Next, line by line. Words that are no change of state carry no states.
  constraint terminal_events_transition check (case
    when change in ('created', 'started', 'start_failed', 'attached', 'detached', 'waiting', 'answered', 'stop_asked',
      'exited', 'exited_badly', 'lost', 'found', 'restart_asked', 'closed')
    then session_id is not null and (change, from_state, to_state) in (
      ('created',       '',                  'STARTING'),
      ('restart_asked', 'STOPPED',           'STARTING'),
      ('restart_asked', 'FAILED',            'STARTING'),
      ('restart_asked', 'RECOVERABLE',       'STARTING'),
      ('started',       'STARTING',          'DETACHED'),
      ('start_failed',  'STARTING',          'FAILED'),
      ('attached',      'DETACHED',          'RUNNING'),
      ('detached',      'RUNNING',           'DETACHED'),
      ('waiting',       'RUNNING',           'WAITING_FOR_INPUT'),
      ('waiting',       'DETACHED',          'WAITING_FOR_INPUT'),
      ('answered',      'WAITING_FOR_INPUT', 'DETACHED'),
      ('stop_asked',    'RUNNING',           'STOPPING'),
      ('stop_asked',    'DETACHED',          'STOPPING'),
      ('stop_asked',    'WAITING_FOR_INPUT', 'STOPPING'),
      ('exited',        'STARTING',          'STOPPED'),
      ('exited',        'RUNNING',           'STOPPED'),
      ('exited',        'DETACHED',          'STOPPED'),
      ('exited',        'WAITING_FOR_INPUT', 'STOPPED'),
      ('exited',        'STOPPING',          'STOPPED'),
      ('exited_badly',  'STARTING',          'FAILED'),
      ('exited_badly',  'RUNNING',           'FAILED'),
      ('exited_badly',  'DETACHED',          'FAILED'),
      ('exited_badly',  'WAITING_FOR_INPUT', 'FAILED'),
      ('exited_badly',  'STOPPING',          'STOPPED'),
      ('lost',          'STARTING',          'FAILED'),
      ('lost',          'RUNNING',           'RECOVERABLE'),
      ('lost',          'DETACHED',          'RECOVERABLE'),
      ('lost',          'WAITING_FOR_INPUT', 'RECOVERABLE'),
      ('lost',          'STOPPING',          'STOPPED'),
      ('found',         '',                  'DETACHED'),
      ('found',         'STARTING',          'DETACHED'),
      ('found',         'RUNNING',           'DETACHED'),
      ('found',         'DETACHED',          'DETACHED'),
      ('found',         'WAITING_FOR_INPUT', 'DETACHED'),
      ('found',         'STOPPING',          'DETACHED'),
      ('found',         'STOPPED',           'DETACHED'),
      ('found',         'FAILED',            'DETACHED'),
      ('found',         'RECOVERABLE',       'DETACHED'),
      ('closed',        'RECOVERABLE',       'STOPPED'),
      ('closed',        'STOPPED',           'STOPPED'),
      ('closed',        'FAILED',            'FAILED'))
    else from_state = '' and to_state = ''
  end)
);

create index terminal_events_session on terminal_events (session_id, id);
create index terminal_events_at on terminal_events (at);

-- The retention sets hitchpost.retention for its transaction; nothing else may take an event away, and nobody edits one.
create function terminal_events_kept() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' and current_setting('hitchpost.retention', true) = 'on' then
    return old;
  end if;
  raise exception 'events are appended and never edited' using errcode = 'restrict_violation';
end
$$;

create trigger terminal_events_kept before update or delete on terminal_events
  for each row execute function terminal_events_kept();
create trigger terminal_events_kept_whole before truncate on terminal_events
  for each statement execute function terminal_events_kept();
