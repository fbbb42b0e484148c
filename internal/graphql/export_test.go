package graphql

// IssueMembers is issueMembers.
var IssueMembers = issueMembers
