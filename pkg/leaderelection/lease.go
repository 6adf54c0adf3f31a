package leaderelection

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
)

// complainEvery is the shortest time between two log lines about a lease that cannot
// be read or written. It is tried every few seconds.
const complainEvery = 10 * time.Second

// lease is client-go's lock, and sees each reading and writing of it: it opens the fence
// with each renewal and says in the log who leads and what goes wrong. The election
// uses it from one goroutine at a time.
type lease struct {
	resourcelock.Interface
	fence         *Fence
	renewDeadline time.Duration
	timeout       time.Duration // of one request: a single lost answer must not use up the deadline
	logger        klog.Logger
	complaints    flowcontrol.PassiveRateLimiter
	leader        string // who was last seen to lead
}

func newLease(config Config, logger klog.Logger) *lease {
	return &lease{
		Interface: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: config.Namespace, Name: config.Name},
			Client:     config.Client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: config.Identity},
		},
		fence:         config.Fence,
		renewDeadline: config.RenewDeadline,
		timeout:       config.RenewDeadline / 2,
		logger:        logger,
		complaints:    flowcontrol.NewTokenBucketPassiveRateLimiter(float32(1/complainEvery.Seconds()), 1),
	}
}

// Get reads who holds the lease.
func (l *lease) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	record, raw, err := l.Interface.Get(ctx)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			l.complain(ctx, err, "Cannot read the lease, will retry")
		}
		return nil, nil, err
	}
	l.saw(record.HolderIdentity)
	return record, raw, nil
}

// saw notes who holds the lease and says so when that is somebody new.
func (l *lease) saw(holder string) {
	if holder == "" || holder == l.leader {
		return
	}
	if l.leader == l.Identity() {
		l.fence.Close() // somebody took the lease from us: whatever the clock says, they lead now
	}
	l.leader = holder
	if holder != l.Identity() {
		l.logger.Info("Another process leads, standing by", "leader", holder)
	}
}

// Create makes the lease, held by this process.
func (l *lease) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Create)
}

// Update takes or renews the lease.
func (l *lease) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.write(ctx, record, l.Interface.Update)
}

func (l *lease) write(
	ctx context.Context,
	record resourcelock.LeaderElectionRecord,
	send func(context.Context, resourcelock.LeaderElectionRecord) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	sent := time.Now() // the others may count from the moment it arrives; we count from before
	err := send(ctx, record)
	switch {
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		l.logger.V(4).Info("Another process wrote the lease first", "err", err)
	case err != nil:
		l.complain(ctx, err, "Cannot write the lease, will retry")
	case record.HolderIdentity == l.Identity():
		l.leader = l.Identity()
		l.fence.Extend(sent.Add(l.renewDeadline))
	}
	return err
}

// complain logs a failure, unless it has done so a moment ago or it is us who gave up.
func (l *lease) complain(ctx context.Context, err error, message string) {
	if errors.Is(ctx.Err(), context.Canceled) || !l.complaints.TryAccept() {
		return
	}
	if apierrors.IsForbidden(err) {
		l.logger.Error(err, message, "advice", "grant the permission, as deploy/rbac does")
		return
	}
	l.logger.Error(err, message)
}

// releaseTries bounds the tries to release the lease. A renewal that was under way when
// the election ended can make one of them fail.
const releaseTries = 3

// release gives the lease up, if this process holds it. Only for when the election has
// stopped and all work has ended.
func (l *lease) release(ctx context.Context) {
	for range releaseTries {
		record, _, err := l.Get(ctx)
		if err != nil {
			break
		}
		if record.HolderIdentity != l.Identity() {
			return
		}
		now := metav1.Now()
		// An empty holder frees the lease. The API server refuses a duration of 0.
		err = l.Update(ctx, resourcelock.LeaderElectionRecord{
			LeaseDurationSeconds: 1,
			AcquireTime:          now,
			RenewTime:            now,
			LeaderTransitions:    record.LeaderTransitions,
		})
		if err == nil {
			l.logger.Info("Released the lease")
			return
		}
	}
	if l.leader == l.Identity() {
		l.logger.Info("Could not release the lease, it will expire by itself")
	}
}
