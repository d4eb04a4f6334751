package pkg_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// pipelines are the files that run in a CI: those of this repository, and the examples for users.
func pipelines(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"../.github/workflows/*.yml", "../.gitlab-ci.yml", "../.ci/run", "../examples/ci/*.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s names no file: %v", pattern, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found[file] = string(content)
			if err := yaml.Unmarshal(content, new(any)); err != nil && filepath.Ext(file) == ".yml" {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	return found
}

// TestPipelinesCallTargetsThatExist verifies the words after `make`: GitHub and GitLab report a wrong one only after
// a push. The examples for users call none.
func TestPipelinesCallTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`(?m)(?:^|[ (])make ((?:-s )?[a-z0-9-]+)`)
	calls := map[string]bool{}
	for file, content := range pipelines(t) {
		for line := range strings.Lines(content) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			for _, found := range call.FindAllStringSubmatch(line, -1) {
				target := strings.TrimPrefix(found[1], "-s ")
				calls[target] = true
				if !regexp.MustCompile(`(?m)^` + target + `:`).Match(makefile) {
					t.Errorf("%s calls make %s, which the Makefile does not have", file, target)
				}
				if strings.HasPrefix(file, "../examples/") {
					t.Errorf("%s calls make: users have the binary only", file)
				}
			}
		}
	}
	for _, target := range []string{"unit", "lint", "test", "build", "e2e", "vulnerabilities", "release"} {
		if !calls[target] {
			t.Errorf("no pipeline calls make %s", target)
		}
	}
}

// TestPipelinesPinWhatTheyRun verifies that actions are named by commit, with the version next to it, and images by a
// full version: a tag such as v4 can change after a review.
func TestPipelinesPinWhatTheyRun(t *testing.T) {
	action := regexp.MustCompile(`uses: *(\S+)(.*)`)
	pinned := regexp.MustCompile(`^[^@\s]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	image := regexp.MustCompile(`(?m)^ *(?:- name|image): *(\S+:\S+)$`)
	version := regexp.MustCompile(`:\d+\.\d+(\.\d+)?(-[a-z]+)?(@sha256:[0-9a-f]{64})?$`)
	actions, images := 0, 0
	commits := map[string][]string{}
	for file, content := range pipelines(t) {
		for _, found := range action.FindAllStringSubmatch(content, -1) {
			actions++
			if !pinned.MatchString(found[1] + found[2]) {
				t.Errorf("%s uses %s, which is not a commit with its version next to it", file, found[1]+found[2])
			}
			name, _, _ := strings.Cut(found[1], "@")
			if all := commits[name]; !slices.Contains(all, found[1]) {
				commits[name] = append(all, found[1])
			}
		}
		for _, found := range image.FindAllStringSubmatch(content, -1) {
			images++
			if !version.MatchString(found[1]) {
				t.Errorf("%s runs image %s, which is not a full version", file, found[1])
			}
		}
	}
	for name, all := range commits {
		if len(all) > 1 {
			t.Errorf("the pipelines use %s at %d commits: %v", name, len(all), all)
		}
	}
	if actions < 10 || images < 4 {
		t.Errorf("only %d actions and %d images were found", actions, images)
	}
}
