package forge

import (
	"arbor/internal/activity"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/release"
)

// PublishRelease applies the effects of a release's first publication.
func (f *Forge) PublishRelease(tx *db.Tx, r *release.Release) error {
	return activity.NoteReleased(tx, r)
}

// CommentOnCommit applies the effects of a new comment on a commit.
func (f *Forge) CommentOnCommit(tx *db.Tx, c *commitcomment.Comment) error {
	return activity.NoteCommitComment(tx, c)
}
