package main

import (
	"context"
	"errors"
	"fmt"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/ephemeral"
	"arbor/internal/git"
	"arbor/internal/seed"
	"arbor/internal/server"
)

// fill applies a seed to the store, which must be empty or filled with the very
// same seed. It is tried on a throwaway store first, so a seed that is wrong
// leaves nothing behind. If it is interrupted after that, the next try completes
// it or starts again.
func (f *storeFlags) fill(
	ctx context.Context, from *seed.Seed, o git.Options, control *admission.Control,
) error {
	to, err := f.locate()
	if err != nil {
		return err
	}
	d, err := db.Open(ctx, db.Options{URL: to.Database.URL, Log: o.Log})
	if err != nil {
		return err
	}
	if err := errors.Join(f.bind(ctx, d, to), d.Close()); err != nil {
		return err
	}
	held, err := seed.Held(ctx, from, db.Options{URL: to.Database.URL, Log: o.Log})
	switch {
	case err != nil:
		return err
	case held:
		o.Log.Info("the store holds this seed already: it is left as it is", "file", from.File)
		return nil
	}
	if err := seed.Rehearse(ctx, from, o, control); err != nil {
		return err
	}
	to.Git, to.Admission, to.Database.Log = o, control, o.Log
	if err := seed.Fill(context.WithoutCancel(ctx), from, to); err != nil {
		return fmt.Errorf("the store is not filled with %s: %w", from.File, err)
	}
	o.Log.Info("the store was filled", "file", from.File)
	return nil
}

// serveEphemeral serves a seed, or nothing at first for nil, from a temporary
// folder.
func (f *serverFlags) serveEphemeral(ctx context.Context, from *seed.Seed, o server.Options,
	ready func(address string) error) (err error) {
	s, err := ephemeral.Start(ctx, ephemeral.Options{Seed: from, Server: o, Git: f.gitOptions(o.Log)})
	if err != nil {
		if ctx.Err() != nil {
			return nil // the server is stopping
		}
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return f.serve(ctx, s, ready)
}
