-- A reading of a session tells by its revision whether it is older than another one.
alter table terminal_sessions add column revision bigint not null default 0;

create function terminal_sessions_revised() returns trigger language plpgsql as $$
begin
  new.revision := old.revision + 1;
  return new;
end
$$;

create trigger terminal_sessions_revised before update on terminal_sessions
  for each row execute function terminal_sessions_revised();

-- For the retention.
create index terminal_attachments_left on terminal_attachments (detached_at) where detached_at is not null;
