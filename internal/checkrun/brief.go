package checkrun

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Brief is a run as pages list it: without its texts, which may take many megabytes for a hundred
// runs, and with only the name of its App.
type Brief struct {
	ID          int64
	SHA         git.SHA
	Name        string
	Status      Status
	Conclusion  Conclusion // 0: none yet
	StartedAt   db.Time
	CompletedAt db.Time // zero: it is not
	Title       *string
	Annotations int64
	App         string // its name; empty: it is gone
}

const briefColumns = `r.head_sha, r.id, r.name, r.status, r.conclusion, r.started_at, r.completed_at, r.title, r.annotations,
	COALESCE((SELECT a.name FROM apps a WHERE a.id = r.app_id), '')`

// scanBrief reads briefColumns.
func scanBrief(row db.Scanner) (*Brief, error) {
	var b Brief
	err := row.Scan(&b.SHA, &b.ID, &b.Name, &b.Status, &b.Conclusion, &b.StartedAt, &b.CompletedAt,
		&b.Title, &b.Annotations, &b.App)
	return &b, err
}

// Latest reads a page of the latest runs of a commit, the newest first, and how many there are. The commit was found
// for the caller before.
func (s *Service) Latest(
	ctx context.Context, a *repo.Access, sha git.SHA, at web.Page,
) (list []*Brief, total int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, total, err = runsOf(tx, scanBrief, briefColumns, a.ID, &filter{sha: sha}, at)
		return err
	})
	return list, total, err
}

// LatestOfEach reads the latest runs of each of the commits as Latest does, the first so many.
func (s *Service) LatestOfEach(
	ctx context.Context, a *repo.Access, shas []git.SHA, size int64,
) (map[git.SHA]*web.List[*Brief], error) {
	var runs []*Brief
	var totals map[repo.Of[git.SHA]]int64
	commits := repo.AllOf(a, shas)
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		runs = nil
		if totals, err = countOfMany(tx, commits); err == nil && len(totals) > 0 {
			runs, err = latestOfMany(tx, scanBrief, briefColumns, commits, web.Page{Number: 1, Size: size})
		}
		return err
	})
	out := map[git.SHA]*web.List[*Brief]{}
	for _, c := range commits {
		out[c.Key] = &web.List[*Brief]{Total: totals[c]}
	}
	for _, b := range runs {
		out[b.SHA].Rows = append(out[b.SHA].Rows, b)
	}
	return out, err
}
