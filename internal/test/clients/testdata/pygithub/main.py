# A team that holds itself to rules, with PyGithub: teams, protection, reviews. Standard input is
# {"baseUrl": URL, "tokens": {LOGIN: TOKEN}}; a failed assertion is the end.
import json
import sys

from github import Github, GithubException

server = json.load(sys.stdin)


def as_(login):
    return Github(base_url=server["baseUrl"], login_or_token=server["tokens"][login], retry=0)


def refused(status, call, *args, **more):
    try:
        call(*args, **more)
    except GithubException as e:
        assert e.status == status, e
        return e.data["message"]
    raise AssertionError(f"{call.__name__} was not refused")


alice, will, sam = as_("alice"), as_("will"), as_("sam")
org = alice.get_organization("garden")
for login in ("will", "sam"):
    org.add_to_members(alice.get_user(login), role="member")
repo = org.create_repo("pots", auto_init=True)
keepers = org.create_team("Keepers", privacy="closed", permission="push")
writers = org.create_team("Writers", privacy="closed")
writers.edit("Writers", description="Who write")
assert org.get_team_by_slug("writers").description == "Who write"
for team, login in ((keepers, "sam"), (writers, "will")):
    team.add_membership(alice.get_user(login), role="member")
    team.update_team_repository(repo, "push")
    assert team.get_team_membership(login).state == "active"
    assert team.get_repo_permission(repo).push
assert sorted(t.slug for t in repo.get_teams()) == ["keepers", "writers"]
assert [t.slug for t in will.get_user().get_teams()] == ["writers"]
assert will.get_repo("garden/pots").permissions.push
repo.create_file("CODEOWNERS", "Name owners", "* @garden/keepers\n")

main = repo.get_branch("main")
assert not main.protected
main.edit_protection(strict=False, contexts=["build"], enforce_admins=True, require_code_owner_reviews=True,
                     required_approving_review_count=1, dismiss_stale_reviews=True,
                     user_push_restrictions=[], team_push_restrictions=["keepers"])
main = repo.get_branch("main")
assert main.protected
protection = main.get_protection()
assert protection.enforce_admins and protection.required_status_checks.contexts == ["build"]
reviews = protection.required_pull_request_reviews
assert reviews.require_code_owner_reviews and reviews.required_approving_review_count == 1
assert [t.slug for t in main.get_team_push_restrictions()] == ["keepers"]
main.add_team_push_restrictions("writers")
main.remove_team_push_restrictions("keepers")
main.add_user_push_restrictions("sam")
assert [t.slug for t in main.get_team_push_restrictions()] == ["writers"]
assert [u.login for u in main.get_user_push_restrictions()] == ["sam"]
main.edit_required_status_checks(strict=True)
assert main.get_required_status_checks().strict
main.add_required_signatures()
assert main.get_required_signatures()
main.remove_required_signatures()
main.remove_admin_enforcement()
assert not main.get_admin_enforcement()
main.set_admin_enforcement()

plot = will.get_repo("garden/pots")
assert "pull request" in refused(409, plot.create_file, "clay.md", "Clay", "clay\n")
plot.create_git_ref("refs/heads/clay", plot.get_branch("main").commit.sha)
head = plot.create_file("clay.md", "Clay", "clay\n", branch="clay")["commit"]
pull = plot.create_pull(title="Clay", body="", base="main", head="clay")
assert pull.mergeable_state == "blocked", pull.mergeable_state
users, teams = pull.get_review_requests()
assert [t.slug for t in teams] == ["keepers"]
refused(405, pull.merge)
assert sam.get_repo("garden/pots").get_pull(pull.number).create_review(event="APPROVE").state == "APPROVED"
assert "build" in refused(405, pull.merge)
plot.get_commit(head.sha).create_status("success", context="build")
pull = plot.get_pull(pull.number)
assert pull.mergeable_state == "clean", pull.mergeable_state
assert pull.merge(merge_method="squash").merged
refused(403, plot.get_branch("main").remove_protection)
main.remove_protection()
refused(404, main.get_protection)
keepers.remove_membership(alice.get_user("sam"))
assert not keepers.has_in_members(alice.get_user("sam"))
keepers.delete()
writers.delete()
assert list(org.get_teams()) == []
