package repo

import "arbor/internal/account"

// PrivateForks returns the FROM clause of the private forks f that are visible to the caller, $1 (decisions
// 12, 62), of a private repository that is visible to the caller. A condition on f follows.
func PrivateForks(caller *account.Caller) string {
	from := ` FROM repos f JOIN accounts fo ON fo.id = f.owner_id
		LEFT JOIN members fm ON fm.org_id = f.owner_id AND fm.user_id = $1
		WHERE `
	if open := caller.AndOpenRepo("f"); open != `` {
		from += `TRUE` + open + ` AND `
	}
	if caller.SeesAll() {
		return from
	}
	if caller != nil && caller.Reach == account.Installed {
		return from + installed(caller, "f") + ` AND `
	}
	from += `(f.owner_id = $1 OR fm.owner OR (fm.owner IS NOT NULL AND fo.default_role > 0) OR ` +
		GrantedRole("f.id", "$1") + ` > 0)
		AND NOT EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = f.id) AND `
	if caller != nil && caller.Reach == account.Chosen {
		from += chosen(caller, "f.id") + ` AND `
	}
	if caller != nil && caller.Reach == account.Reached {
		from += caller.ReachesSQL("f.owner_id", "f.id") + ` AND `
	}
	return from
}

// forkable is the condition that the repository r may be forked. For a private one, the organization that
// owns it and the one that owns its root must allow it (decision 62).
const forkable = `NOT r.private OR (o.kind = 1 OR o.private_forks) AND (r.root_id IS NULL
	OR EXISTS (SELECT 1 FROM repos s JOIN accounts so ON so.id = s.owner_id
		WHERE s.id = r.root_id AND (so.kind = 1 OR so.private_forks)))`

// forkColumns returns the numbers of forks of the repository r and of its network. private selects its
// private forks f.
func forkColumns(private string) string {
	return `CASE WHEN r.private AND r.forks_count > 0
		THEN (SELECT count(*)` + private + `f.parent_id = r.id) ELSE r.forks_count END,
	CASE WHEN r.root_id IS NULL AND (r.network_count = 0 OR NOT r.private) THEN r.network_count
		WHEN r.private THEN (SELECT count(*)` + private + `f.root_id = COALESCE(r.root_id, r.id))
		ELSE (SELECT n.network_count FROM repos n WHERE n.id = r.root_id) END`
}
