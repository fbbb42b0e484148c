package main

import (
	"context"
	"strings"

	"arbor/internal/release"
)

// fillRelease publishes the greenhouse's first tag, with a file to download.
func (d *demo) fillRelease(ctx context.Context) error {
	s := d.store.forge(d.log)
	found, err := s.Repos.Find(ctx, d.callers["alice"], "alice", "greenhouse")
	if err != nil {
		return err
	}
	made, err := s.Releases.Create(ctx, &found.Access, release.Edit{Tag: given("v0.1.0"),
		Name: given("First harvest"), Body: given("Waters **two** beds, and says when a window is open.")})
	if err != nil {
		return err
	}
	beds := "bed,plant,liters a day\neast,tomato,12\nwest,lettuce,8\n"
	_, err = s.Releases.Upload(ctx, &found.Access, made.ID, release.NewAsset{Name: "beds.csv",
		ContentType: "text/csv", Size: int64(len(beds)), From: strings.NewReader(beds)})
	return err
}
