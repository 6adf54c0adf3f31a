package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/features"
	"k8s.io/klog/v2"
)

// The exit codes: after an orderly end, after a failure, and when the command line or the
// configuration file was wrong and nothing was started.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// Main runs the program with the given command line until ctx ends, and returns its exit
// code. Every error is one line.
func Main(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	options := NewOptions()
	code := exitUsage
	command := newCommand(options, func(ctx context.Context) error {
		code = exitFailed
		return run(ctx, options)
	}, stderr)
	command.SetArgs(args)
	command.SetOut(stdout)
	command.SetErr(stderr)

	defer klog.Flush()
	if err := command.ExecuteContext(ctx); err != nil {
		report(options, code, stderr, err)
		return code
	}
	return exitOK
}

// newCommand returns the command line, which fills the options, checks them, and then
// calls start.
func newCommand(options *Options, start func(context.Context) error, stderr io.Writer) *cobra.Command {
	command := &cobra.Command{
		Use:   "controller-manager",
		Short: "Runs the Deployment and ReplicaSet control loops of Kubernetes",
		Long: "controller-manager runs the Deployment and the ReplicaSet control loop of Kubernetes,\n" +
			"in the place of those two of kube-controller-manager.",
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	command.CompletionOptions.DisableDefaultCmd = true
	command.Flags().AddGoFlagSet(options.Flags())
	command.RunE = func(command *cobra.Command, _ []string) error {
		if options.Version {
			_, err := fmt.Fprintln(command.OutOrStdout(), versionLine(build()))
			return err
		}
		// client-go lists its features in the log when it is asked for one the first
		// time. Before the log is set up that shows nowhere.
		if err := checkFeatures(features.FeatureGates()); err != nil {
			return err
		}
		if err := options.Complete(command.Flags().Changed); err != nil {
			return err
		}
		if err := setUpLogging(options, stderr); err != nil {
			return err
		}
		return start(command.Context())
	}
	return command
}

// report says why the program ends, in one line: in the log where programs read that, and
// as it is where people do.
func report(options *Options, code int, stderr io.Writer, err error) {
	if code == exitFailed && options.LoggingFormat == formatJSON {
		klog.Background().Error(err, "Stopped by an error")
		return
	}
	line := oneLine(err)
	if code == exitUsage {
		line += " (--help lists the flags)"
	}
	// Nothing is left to be done if standard error is closed.
	_, _ = fmt.Fprintln(stderr, "controller-manager: "+line)
}

// oneLine returns the text of an error, of which joined errors make several lines.
func oneLine(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")), " ")
}

// checkFeatures refuses to start where a feature of client-go was turned off without which
// the loops would work on old caches and not notice.
func checkFeatures(gates features.Gates) error {
	if !gates.Enabled(features.AtomicFIFO) {
		return errors.New("the loops need client-go's feature AtomicFIFO, to know how old their caches are: " +
			"remove KUBE_FEATURE_AtomicFIFO from the environment")
	}
	return nil
}
