package git_test
