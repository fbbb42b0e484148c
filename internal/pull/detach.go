package pull

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/repo/network"
)

// A pull request between two repositories requires that both are in one network and visible to its author
// (decision 61). If that ends, it is permanently detached: it loses its head repository and is closed. The
// transaction that ends it detaches all affected pull requests with one statement. A push detaches any that
// remain.

// maxClosed is the number of pull requests that one transaction closes. The worker closes the others later.
// They have lost their heads already, so they cannot be updated or merged.
const maxClosed = 100

// FollowDeletion detaches the pull requests that end with a deleted repository: those with their head in it
// and, if it is the root of a private network, all between two repositories of the network.
func (s *Service) FollowDeletion(tx *db.Tx, r *repo.Repo, by account.ID) error {
	return s.detachAll(tx, by, acrossFrom+ofNetwork(r), r.ID)
}

// FollowVisibility is like FollowDeletion, for a repository that changes its visibility and leaves its
// network. It also detaches those with their base in it.
func (s *Service) FollowVisibility(tx *db.Tx, r *repo.Repo, by account.ID) error {
	return s.detachAll(tx, by, acrossFrom+` UNION ALL `+acrossTo+ofNetwork(r), r.ID)
}

// ofNetwork adds the pull requests of a network that ends with its root.
func ofNetwork(r *repo.Repo) string {
	if !r.Private || r.ParentID != 0 {
		return ""
	}
	return ` UNION ALL ` + acrossWithin
}

// FollowLoss detaches the pull requests that are no longer allowed after somebody lost a role on a
// repository: an author, or the owner of a fork that is withdrawn as a result (decision 62).
func (s *Service) FollowLoss(tx *db.Tx, r *repo.Repo, by account.ID) error {
	if !r.Private {
		return nil
	}
	return s.detachAll(tx, by, lostIn(`$1`), r.NetworkID)
}

// FollowOrgLoss is FollowLoss for all private repositories of an organization, and for its forks of others.
func (s *Service) FollowOrgLoss(tx *db.Tx, orgID, by account.ID) error {
	return s.detachAll(tx, by, lostIn(rootsOf), orgID)
}

// FollowDemotion is FollowLoss for a former site administrator, in the networks of the account's private
// repositories and of those in which it opened pull requests.
func (s *Service) FollowDemotion(tx *db.Tx, userID, by account.ID) error {
	return s.detachAll(tx, by, lostIn(rootsOf+` UNION `+rootsAsked), userID)
}

// detachAll detaches the pull requests that a query selects.
func (s *Service) detachAll(tx *db.Tx, by account.ID, which string, id any) error {
	open, err := setHeadsGone(tx, which, id)
	if err != nil {
		return err
	}
	return s.closeAll(tx, by, open[:min(len(open), maxClosed)])
}

// detach detaches one pull request.
func (s *Service) detach(tx *db.Tx, p *Pull, by account.ID) error {
	if _, err := setHeadsGone(tx, `$1`, p.IssueID); err != nil {
		return err
	}
	return s.close(tx, p, by)
}

func (s *Service) closeAll(tx *db.Tx, by account.ID, ids []issue.ID) error {
	found, err := ByIDs(tx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.close(tx, found[id], by); err != nil {
			return err
		}
	}
	return nil
}

// closeHeadless closes some open pull requests without a head, as the owners of their heads. It reports
// whether more may remain.
func (s *Service) closeHeadless(ctx context.Context) bool {
	var ids []issue.ID
	find := func(tx *db.Tx) (err error) {
		ids, err = headless(tx, maxClosed)
		return err
	}
	if err := s.db.Read(ctx, find); err != nil || len(ids) == 0 {
		return false
	}
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		if err := find(tx); err != nil {
			return err
		}
		return s.closeAll(tx, 0, ids)
	})
	if err != nil && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "pull requests without a head cannot be closed", "error", err)
	}
	return err == nil
}

// holds reports which of the pull requests are still allowed, by ids of their issues. It runs no query if
// none is between two repositories.
func holds(tx *db.Tx, list ...*Pull) (map[issue.ID]bool, error) {
	hold := make(map[issue.ID]bool, len(list))
	var ids []issue.ID
	var asked []network.Crossing
	for _, p := range list {
		if p.RepoID == p.HeadRepoID {
			hold[p.IssueID] = true
			continue
		}
		ids, asked = append(ids, p.IssueID), append(asked, p.crossing())
	}
	answers, err := network.MayCross(tx, asked...)
	for n, ok := range answers {
		hold[ids[n]] = ok
	}
	return hold, err
}

// crossing returns the crossing from the head to the base repository.
func (p *Pull) crossing() network.Crossing {
	return network.Crossing{From: p.HeadRepoID, To: p.RepoID, UserID: p.AuthorID}
}
