terraform {
  required_providers {
    github = { source = "integrations/github" }
  }
}

variable "url" { type = string }

variable "robot" { type = number } # an App

variable "changed" {
  type    = bool
  default = false
}

provider "github" {
  base_url          = var.url
  owner             = "garden"
  write_delay_ms    = 1
  parallel_requests = true
}

resource "github_organization_settings" "garden" {
  billing_email                         = "bills@example.org"
  name                                  = var.changed ? "The Large Garden" : "The Garden"
  description                           = "Of plants"
  company                               = "Garden Ltd"
  email                                 = "hello@example.org"
  location                              = "Earth"
  blog                                  = "https://garden.example.org"
  default_repository_permission         = var.changed ? "read" : "none"
  members_can_fork_private_repositories = true
  has_organization_projects             = false
  has_repository_projects               = false
  members_can_create_pages              = false # Arbor has none
  members_can_create_public_pages       = false
  members_can_create_private_pages      = false
  members_can_create_repositories         = true
  members_can_create_public_repositories  = var.changed
  members_can_create_private_repositories = true
}

resource "github_membership" "members" {
  for_each = var.changed ? { bob = "member", carol = "member" } : { bob = "admin", carol = "member", dave = "member" }
  username = each.key
  role     = each.value
}

resource "github_team" "growers" {
  name        = "Growers"
  description = var.changed ? "Everything that grows" : "All that grows"
  privacy     = "closed"
}

resource "github_team" "sowers" {
  name           = "Sowers"
  privacy        = "closed"
  parent_team_id = github_team.growers.id
}

resource "github_team" "keepers" {
  name    = var.changed ? "Wardens" : "Keepers"
  privacy = "secret"
}

resource "github_team_membership" "bob" {
  team_id    = github_team.growers.id
  username   = github_membership.members["bob"].username
  role       = "maintainer"
}

resource "github_team_members" "sowers" {
  team_id = github_team.sowers.id
  members {
    username = github_membership.members["carol"].username
    role     = var.changed ? "member" : "maintainer"
  }
  members {
    username = github_membership.members["bob"].username
    role     = "maintainer"
  }
}

resource "github_repository" "plot" {
  name                        = "plot"
  description                 = var.changed ? "Where everything grows" : "Where it grows"
  homepage_url                = "https://plot.example.org"
  visibility                  = "public"
  auto_init                   = true
  has_issues                  = true
  allow_merge_commit          = false
  allow_auto_merge            = true
  delete_branch_on_merge      = true
  squash_merge_commit_title   = "PR_TITLE"
  squash_merge_commit_message = "PR_BODY"
  topics                      = var.changed ? ["beans"] : ["beans", "peas"]
}

resource "github_repository" "shed" {
  name       = "shed"
  visibility = "private"
  auto_init  = true
  archived   = false
}

resource "github_repository" "seeds" {
  name       = var.changed ? "seed-bank" : "seeds"
  visibility = var.changed ? "private" : "public"
  template {
    owner      = "garden"
    repository = github_repository.model.name
  }
}

resource "github_repository" "model" {
  name        = "model"
  is_template = true
  auto_init   = true
}

resource "github_branch_default" "shed" {
  repository = github_repository.shed.name
  branch     = "trunk"
  rename     = true
}

resource "github_branch" "next" {
  repository    = github_repository.shed.name
  source_branch = github_branch_default.shed.branch
  branch        = "next"
}

resource "github_repository_file" "owners" {
  repository          = github_repository.shed.name
  branch              = github_branch_default.shed.branch
  file                = "CODEOWNERS"
  content             = var.changed ? "* @garden/growers\n" : "* @garden/growers @bob\n"
  commit_message      = "Name owners"
  commit_author       = "Alice"
  commit_email        = "alice@example.org"
  overwrite_on_create = true
}

resource "github_team_repository" "growers_plot" {
  team_id    = github_team.growers.id
  repository = github_repository.plot.name
  permission = var.changed ? "maintain" : "push"
}

resource "github_repository_collaborator" "erin" {
  repository = github_repository.plot.name
  username   = "erin"
  permission = var.changed ? "triage" : "pull"
}

resource "github_repository_collaborators" "shed" {
  repository = github_repository.shed.name
  user {
    username   = "erin"
    permission = var.changed ? "push" : "maintain"
  }
  team {
    team_id    = github_team.keepers.slug
    permission = "admin"
  }
}

resource "github_branch_protection" "plot" {
  repository_id                   = github_repository.plot.node_id
  pattern                         = "main"
  enforce_admins                  = !var.changed
  required_linear_history         = true
  require_conversation_resolution = true
  require_signed_commits          = var.changed
  allows_deletions                = false
  lock_branch                     = false
  required_status_checks {
    strict   = true
    contexts = var.changed ? ["build", "lint"] : ["build"]
  }
  required_pull_request_reviews {
    dismiss_stale_reviews           = true
    require_code_owner_reviews      = true
    require_last_push_approval      = true
    required_approving_review_count = 2
    restrict_dismissals             = true
    dismissal_restrictions          = ["/bob", "garden/${github_team.growers.slug}"]
    pull_request_bypassers          = ["/bob"]
  }
  restrict_pushes {
    blocks_creations = true
    push_allowances  = [github_team.growers.node_id]
  }
  force_push_bypassers = var.changed ? [] : ["/bob"]
  depends_on           = [github_team_repository.growers_plot, github_membership.members]
}

resource "github_branch_protection" "releases" {
  repository_id = github_repository.plot.name
  pattern       = "release/*"
}

resource "github_branch_protection_v3" "shed" {
  repository                      = github_repository.shed.name
  branch                          = github_branch_default.shed.branch
  enforce_admins                  = false
  require_signed_commits          = false
  require_conversation_resolution = var.changed
  required_status_checks {
    strict = var.changed
    checks = ["build", "lint:${var.robot}"]
  }
  required_pull_request_reviews {
    dismiss_stale_reviews           = true
    dismissal_users                 = ["bob"]
    dismissal_teams                 = [github_team.keepers.slug]
    required_approving_review_count = 1
    bypass_pull_request_allowances {
      users = ["bob"]
      teams = [github_team.keepers.slug]
      apps  = ["robot"]
    }
  }
  restrictions {
    users = ["bob"]
    teams = [github_team.keepers.slug]
    apps  = ["robot"]
  }
  depends_on = [github_repository_collaborators.shed, github_membership.members, github_repository_file.owners]
  lifecycle { ignore_changes = [required_status_checks[0].contexts] } # this version of the provider reads them from the checks
}

resource "github_repository_ruleset" "plot" {
  name        = "plot"
  repository  = github_repository.plot.name
  target      = "branch"
  enforcement = var.changed ? "disabled" : "active"
  conditions {
    ref_name {
      include = ["~DEFAULT_BRANCH", "refs/heads/release/**"]
      exclude = ["refs/heads/release/old"]
    }
  }
  bypass_actors {
    actor_id    = github_team.growers.id
    actor_type  = "Team"
    bypass_mode = var.changed ? "always" : "pull_request"
  }
  bypass_actors {
    actor_id    = var.robot
    actor_type  = "Integration"
    bypass_mode = "always"
  }
  bypass_actors {
    actor_id    = 0 # as GitHub answers, whatever is sent
    actor_type  = "OrganizationAdmin"
    bypass_mode = "always"
  }
  bypass_actors {
    actor_id    = 5
    actor_type  = "RepositoryRole"
    bypass_mode = "always"
  }
  rules {
    creation                = true
    update                  = false
    deletion                = true
    non_fast_forward        = true
    required_linear_history = true
    required_signatures     = var.changed
    pull_request {
      dismiss_stale_reviews_on_push     = true
      require_code_owner_review         = true
      require_last_push_approval        = true
      required_approving_review_count   = 2
      required_review_thread_resolution = true
    }
    required_status_checks {
      strict_required_status_checks_policy = true
      do_not_enforce_on_create             = true
      required_check { context = "build" }
      required_check {
        context        = "lint"
        integration_id = var.robot
      }
    }
    merge_queue {
      merge_method                      = "SQUASH"
      grouping_strategy                 = var.changed ? "HEADGREEN" : "ALLGREEN"
      max_entries_to_build              = 4
      max_entries_to_merge              = 3
      min_entries_to_merge              = 1
      min_entries_to_merge_wait_minutes = 2
      check_response_timeout_minutes    = 30
    }
    commit_message_pattern {
      name     = "subject"
      operator = "starts_with"
      pattern  = "plot:"
    }
    commit_author_email_pattern {
      operator = "ends_with"
      pattern  = "@example.org"
    }
    committer_email_pattern {
      operator = "contains"
      pattern  = "@"
      negate   = false
    }
    branch_name_pattern {
      operator = "regex"
      pattern  = "^[a-z/]+$"
      negate   = false
    }
  }
}

resource "github_repository_ruleset" "tags" {
  name        = "tags"
  repository  = github_repository.plot.name
  target      = "tag"
  enforcement = "active"
  conditions {
    ref_name {
      include = ["~ALL"]
      exclude = []
    }
  }
  rules {
    deletion                      = true
    update                        = true
    update_allows_fetch_and_merge = true # the provider always sends true
    tag_name_pattern {
      operator = "starts_with"
      pattern  = var.changed ? "version-" : "v"
    }
  }
}

resource "github_organization_ruleset" "all" {
  name        = "all"
  target      = "branch"
  enforcement = "active"
  conditions {
    ref_name {
      include = ["refs/heads/stable"]
      exclude = []
    }
    repository_name {
      include   = var.changed ? ["plot", "seed-*"] : ["~ALL"]
      exclude   = ["model"]
      protected = false
    }
  }
  bypass_actors {
    actor_id    = github_team.sowers.id
    actor_type  = "Team"
    bypass_mode = "always"
  }
  bypass_actors {
    actor_id    = var.robot
    actor_type  = "Integration"
    bypass_mode = "pull_request"
  }
  rules {
    non_fast_forward = true
    deletion         = true
    pull_request {
      required_approving_review_count = var.changed ? 2 : 1
    }
  }
}

resource "github_issue_label" "ripe" {
  repository  = github_repository.plot.name
  name        = var.changed ? "ripe fruit" : "ripe"
  color       = "00ff00"
  description = "May be eaten"
}

resource "github_issue_label" "bug" { # a default label, which it takes over
  repository = github_repository.shed.name
  name       = "bug"
  color      = var.changed ? "0000ff" : "ff0000"
}

resource "github_repository_milestone" "spring" {
  owner       = "garden"
  repository  = github_repository.plot.name
  title       = "Spring"
  description = var.changed ? "Later" : "Soon"
  due_date    = "2027-03-20"
  state       = var.changed ? "closed" : "open"
}

resource "github_issue" "dig" {
  repository       = github_repository.plot.name
  title            = var.changed ? "Dig deeper" : "Dig"
  body             = "Here."
  labels           = [github_issue_label.ripe.name]
  assignees        = [github_membership.members["bob"].username]
  milestone_number = github_repository_milestone.spring.number
}

resource "github_repository_webhook" "plot" {
  repository = github_repository.plot.name
  active     = false
  events     = var.changed ? ["issues", "push"] : ["push"]
  configuration {
    url          = "https://hooks.example.org/plot"
    content_type = "json"
    secret       = "peas and beans"
    insecure_ssl = false
  }
}

resource "github_organization_webhook" "garden" {
  active = false
  events = ["repository", "team"]
  configuration {
    url          = var.changed ? "https://hooks.example.org/changed" : "https://hooks.example.org/garden"
    content_type = "form"
    insecure_ssl = false
  }
}

resource "github_repository_deploy_key" "plot" {
  repository = github_repository.plot.name
  title      = "deploy"
  key        = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG64NUK3/ybkooef/q2ak+ZnvqRV1akRIc4KoAjlE0+5"
  read_only  = !var.changed
}

resource "github_repository_autolink_reference" "plot" {
  repository          = github_repository.plot.name
  key_prefix          = "SEED-"
  target_url_template = "https://seeds.example.org/<num>"
}

resource "github_repository_environment" "field" {
  repository  = github_repository.plot.name
  environment = "field"
  can_admins_bypass = false
}

resource "github_release" "first" {
  repository       = github_repository.plot.name
  tag_name         = "v1"
  target_commitish = "main"
  name             = "One"
  body             = "Peas" # the provider crashes when it changes a release
  draft            = false
  depends_on       = [github_repository_ruleset.tags]
}

data "github_team" "sowers" {
  slug       = github_team.sowers.slug
  depends_on = [github_team_members.sowers]
}

data "github_organization_teams" "all" {
  depends_on = [github_team.sowers, github_team.keepers]
}

data "github_repositories" "all" {
  query      = "org:garden"
  depends_on = [github_repository.plot, github_repository.shed]
}

data "github_collaborators" "plot" {
  owner      = "garden"
  repository = github_repository.plot.name
  depends_on = [github_repository_collaborator.erin]
}

data "github_branch_protection_rules" "plot" {
  repository = github_repository.plot.name
  depends_on = [github_branch_protection.plot, github_branch_protection.releases]
}

output "sowers" { value = data.github_team.sowers.members }

output "protected" { value = data.github_branch_protection_rules.plot.rules[*].pattern }
