-- What is known of the agent that a session runs, as package store writes it; null where it runs none.
alter table terminal_sessions add column agent jsonb check (jsonb_typeof(agent) = 'object');

-- Who runs a conversation is looked for before another process gets it.
create index terminal_sessions_open_conversation on terminal_sessions (conversation_id)
  where closed_at is null and conversation_id <> '';

-- A state may also be known from where an agent notes what its processes do.
alter table terminal_sessions drop constraint terminal_sessions_state_source_check,
  add constraint terminal_sessions_state_source_check
    check (state_source in ('person', 'tmux', 'exit', 'hook', 'registry', 'reconciler'));
alter table terminal_events drop constraint terminal_events_source_check,
  add constraint terminal_events_source_check
    check (source in ('person', 'tmux', 'exit', 'hook', 'registry', 'reconciler'));

-- hitchpost.Next, line by line, now with one who waits for another reason. Words that are no change of state carry no
-- states.
alter table terminal_events drop constraint terminal_events_transition;
alter table terminal_events add constraint terminal_events_transition check (case
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
    ('waiting',       'WAITING_FOR_INPUT', 'WAITING_FOR_INPUT'),
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
end);
