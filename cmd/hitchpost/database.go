package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/hitchpost/hitchpost/store"
	"github.com/hitchpost/hitchpost/store/local"
)

// database is the store together with the private cluster that was started, or joined, for it.
type database struct {
	*store.Store
	cluster *local.Cluster // nil where a URL was given
}

// openDatabase opens the store that the settings name and brings it to this version's schema.
func openDatabase(ctx context.Context, set settings, log *slog.Logger) (*database, error) {
	db, err := connectDatabase(ctx, set, log)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// connectDatabase opens the store that the settings name, of whatever schema it is. Without a URL it starts the private
// cluster, or joins it where another process has started it.
func connectDatabase(ctx context.Context, set settings, log *slog.Logger) (_ *database, err error) {
	if err := makeDataDir(set.DataDir); err != nil {
		return nil, err
	}
	db := &database{}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	url := set.DatabaseURL
	if url == "" {
		limited, cancel := context.WithTimeout(ctx, clusterStart)
		defer cancel()
		db.cluster, err = local.Start(limited, local.Config{Dir: filepath.Join(set.DataDir, "postgres"), Log: log})
		if err != nil {
			return nil, err
		}
		url = db.cluster.URL()
	}
	db.Store, err = store.Open(ctx, url, log)
	if err == nil && db.cluster != nil {
		db.Store = db.Store.ExplainedBy(db.cluster.Trouble)
	}
	return db, err
}

const (
	clusterEvery = 2 * time.Second // between looks at whether the private server answers
	clusterStart = time.Minute     // for a start of it, recovery after a crash included
)

// keep starts the private server again when it has ended, as after a crash of it, until ctx ends. A database at a URL
// is somebody else's to keep.
func (db *database) keep(ctx context.Context, log *slog.Logger) {
	t := time.NewTicker(clusterEvery)
	defer t.Stop()
	told := ""
	for db.cluster != nil {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if err := db.Ping(ctx); err == nil || ctx.Err() != nil {
			told = ""
			continue
		}
		limited, cancel := context.WithTimeout(ctx, clusterStart)
		err := db.cluster.Ensure(limited)
		cancel()
		if err != nil && ctx.Err() == nil && err.Error() != told { // a full disk lasts, and the log may be on it
			told = err.Error()
			log.Error("private PostgreSQL not brought back", "err", err)
		}
	}
}

// Close closes the store, and stops the private cluster unless another process uses it.
func (db *database) Close() error {
	if db.Store != nil {
		db.Store.Close()
	}
	if db.cluster == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return db.cluster.Stop(ctx)
}
