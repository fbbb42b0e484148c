package commitcomment

import (
	"context"
	"maps"
	"slices"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Shown is a comment in the form of GET /repos/{owner}/{repo}/comments/{id}, with its reactions.
type Shown struct {
	*Payload
	In *repo.Access
}

// ListMany lists a page of the comments on each of several commits, or with an empty SHA on all commits of a
// repository, the oldest first, with a fixed number of statements. The commits were found for the caller before.
func (s *Service) ListMany(
	ctx context.Context, list []repo.Of[git.SHA], at web.Page,
) (map[repo.Of[git.SHA]]*web.List[*Shown], error) {
	var totals map[int]int64
	shown, err := s.shown(ctx, func(tx *db.Tx) (found []*Comment, in []*repo.Access, err error) {
		if totals, err = countEach(tx, list); err != nil {
			return nil, nil, err
		}
		found, err = pageOfEach(tx, list, at)
		return found, slices.Collect(maps.Values(repo.In(list))), err
	})
	out := map[repo.Of[git.SHA]]*web.List[*Shown]{}
	for n, of := range list {
		l := &web.List[*Shown]{Total: totals[n], More: at.Offset()+at.Size < totals[n]}
		for _, c := range shown {
			if c.In.ID == of.In.ID && (of.Key == "" || of.Key == c.CommitID) {
				l.Rows = append(l.Rows, c)
			}
		}
		out[of] = l
	}
	return out, err
}

// ByIDs loads comments by their ids. Those not in the repository are omitted.
func (s *Service) ByIDs(ctx context.Context, ids []repo.Of[int64]) (map[repo.Of[int64]]*Shown, error) {
	in := repo.In(ids)
	shown, err := s.shown(ctx, func(tx *db.Tx) (found []*Comment, _ []*repo.Access, err error) {
		found, err = byIDs(tx, db.Unique(repo.Keys(ids)))
		return found, slices.Collect(maps.Values(in)), err
	})
	out := map[repo.Of[int64]]*Shown{}
	for _, c := range shown {
		out[repo.Of[int64]{In: in[c.In.ID], Key: c.ID}] = c
	}
	return out, err
}

// ListBy lists a page of the comments that each of several people wrote in repositories that the caller sees, the
// oldest first, with a fixed number of statements.
func (s *Service) ListBy(
	ctx context.Context, caller *account.Caller, authors []account.ID, at web.Page,
) (map[account.ID]*web.List[*Shown], error) {
	var pages map[account.ID]*db.ListPage[int64]
	shown, err := s.shown(ctx, func(tx *db.Tx) (found []*Comment, in []*repo.Access, err error) {
		if pages, err = pageBy(tx, caller, authors, at); err != nil {
			return nil, nil, err
		}
		if found, err = byIDs(tx, db.ListedIDs(pages)); err != nil {
			return nil, nil, err
		}
		repos := make([]repo.ID, len(found))
		for n, c := range found {
			repos[n] = c.RepoID
		}
		of, err := repo.ByIDs(tx, caller, db.Unique(repos))
		return found, slices.Collect(maps.Values(of)), err
	})
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*Shown, len(shown))
	for _, c := range shown {
		byID[c.ID] = c
	}
	return web.ListOfEach(at, pages, func(r db.ListRow[int64]) (*Shown, bool) {
		c, there := byID[r.ID]
		return c, there
	}), nil
}

// shown renders the comments that find reads, as far as they are in the repositories that it returns.
func (s *Service) shown(
	ctx context.Context, find func(tx *db.Tx) ([]*Comment, []*repo.Access, error),
) (out []*Shown, err error) {
	var p *Page
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		list, in, err := find(tx)
		if err == nil {
			p, err = loadWith(ctx, tx, in, list, true)
		}
		return err
	})
	if err == nil {
		err = p.Bodies(web.Unsent(ctx), s.issues)
	}
	if err != nil {
		return nil, err
	}
	for n, c := range p.list {
		shown, err := p.payload(n)
		if err != nil {
			return nil, err
		}
		out = append(out, &Shown{shown, p.repos[c.RepoID]})
	}
	return out, nil
}
