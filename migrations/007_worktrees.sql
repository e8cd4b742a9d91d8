-- The worktree that was made for a session, and the tree that it was made from; empty where none was.
alter table terminal_sessions
  add column worktree text not null default '',
  add column worktree_of text not null default '';
