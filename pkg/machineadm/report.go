package machineadm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

const (
	// ReportKind is the kind of a Report.
	ReportKind = "MachineReport"
	// ReportPath is where a machine has its Report. It is gone after a reboot, as is the need for it.
	ReportPath = "/run/cluster-api/machineadm.json"
)

// Result is how something ended.
type Result string

// The results. A Report that stays at Running belongs to a machineadm that was killed, or that still runs. Prepared is
// the end for a machine of RKE2; on others kubeadm follows.
const (
	Running   Result = "running"
	Prepared  Result = "prepared"
	Succeeded Result = "succeeded"
	Failed    Result = "failed"
)

// Report says what machineadm did. It never holds configuration, tokens or certificates.
type Report struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Started    time.Time `json:"started"`
	Result     Result    `json:"result"`
	// Steps are the preparation. The last one is the one that failed, if one did.
	Steps []StepReport `json:"steps"`
	// Kubeadm is nil until kubeadm has started.
	Kubeadm *KubeadmReport `json:"kubeadm,omitempty"`
}

// StepReport is the outcome of one step.
type StepReport struct {
	Name    string  `json:"name"`
	Result  Result  `json:"result"`
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
}

// KubeadmReport is the outcome of kubeadm.
type KubeadmReport struct {
	Command  string `json:"command"` // init or join
	Result   Result `json:"result"`
	ExitCode int    `json:"exitCode"`
	// Phase is the one that failed, if kubeadm names it.
	Phase   string   `json:"phase,omitempty"`
	Errors  []string `json:"errors,omitempty"`
	Seconds float64  `json:"seconds"`
}

// prepared reports whether all steps of the preparation succeeded.
func (r Report) prepared() bool {
	for _, s := range r.Steps {
		if s.Result != Succeeded {
			return false
		}
	}
	return len(r.Steps) > 0
}

// read returns the Report of this boot. Without one, ok is false.
func (h Host) readReport() (report Report, ok bool, err error) {
	content, err := os.ReadFile(h.at(ReportPath))
	if errors.Is(err, fs.ErrNotExist) {
		return report, false, nil
	}
	if err == nil {
		err = json.Unmarshal(content, &report)
	}
	if err == nil && report.APIVersion != APIVersion {
		err = fmt.Errorf("its version is %q, want %s", report.APIVersion, APIVersion)
	}
	if err != nil {
		return report, false, fmt.Errorf("read the report %s: %w", ReportPath, err)
	}
	return report, true, nil
}

func (h Host) writeReport(r Report) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := h.write(ReportPath, string(content)+"\n", 0o644); err != nil {
		return fmt.Errorf("write the report %s: %w", ReportPath, err)
	}
	return nil
}
