//go:build long

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// audit compares rows with the files of the bucket, past the server: each row's object is there with its bytes, nothing
// that the bucket ever took is gone, since a run is shorter than the grace period, and what has no row was left by calls
// that failed.
func (c *chaos) audit() {
	if out, err := c.nodes[0].tells("objects", "verify", "--deep"); err != nil {
		c.t.Errorf("verify: %v\n%s", err, out)
	}
	lying := map[string]bool{}
	testkit.NoError(c.t, filepath.WalkDir(c.service.File("chaos/packs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			lying[d.Name()] = true
		}
		return err
	}))
	c.puts.Range(func(key, _ any) bool {
		if !lying[key.(string)] {
			c.t.Errorf("%s is gone from the bucket", key)
		}
		return true
	})
	objects := len(lying)
	named, inline := 0, 0
	ctx := context.Background()
	d, err := db.Open(ctx, db.Options{URL: c.database.URL()})
	testkit.NoError(c.t, err)
	defer d.Close()
	testkit.NoError(c.t, d.Read(ctx, func(tx *db.Tx) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var key, sum string
			var depot, size int64
			if err := row.Scan(&key, &depot, &size, &sum); err != nil {
				return err
			}
			if depot == 0 {
				inline++
				return nil
			}
			named++
			delete(lying, key)
			data, err := os.ReadFile(c.service.File("chaos/packs/" + key[:2] + "/" + key))
			if has := sha256.Sum256(data); err != nil || int64(len(data)) != size || hex.EncodeToString(has[:]) != sum {
				c.t.Errorf("%s of %d bytes is not in the bucket as it was put: %d bytes, %v", key, size, len(data), err)
			}
			return nil
		}, `SELECT key_name, depot_id, pack_size + reverse_size + index_size, sha256 FROM pack_files`)
	}))
	c.t.Logf("packs: %d in rows, %d of %d objects in the bucket have a row; %d large writes were lost", inline, named, objects,
		c.lost.Load())
	if failed := c.lost.Load() + c.round.Load() + 1; named == 0 || int64(len(lying)) > failed { // each round may fail a packing
		c.t.Errorf("%d objects in the bucket have no row, after %d failures", len(lying), failed)
	}
}
