# Stand-ins for the two bases of the Dockerfile, where no registry can be reached. A script that
# has made a folder $work reads this file and calls what it needs:
#
#   . tools/stand-ins.sh
#
# It needs root, and podman, buildah and a static busybox, which it installs on Debian.
# shellcheck shell=sh disable=SC2154 # $work is the reader's

command -v podman >/dev/null && command -v buildah >/dev/null && [ -x /bin/busybox ] || {
  echo "installing podman, buildah and busybox-static, which build images here"
  apt-get update -qq && apt-get install -y -qq --no-install-recommends podman buildah busybox-static
}

# In a store of its own, so that nothing stays behind, and no image of yours is replaced.
cat > "$work/storage.conf" <<END
[storage]
driver = "vfs"
graphroot = "$work/images"
runroot = "$work/run"
END
export CONTAINERS_STORAGE_CONF="$work/storage.conf" BUILDAH_ISOLATION=chroot

# go_stand_in makes a base of busybox, for this machine's Go and its module cache to be mounted.
go_stand_in() {
  mkdir -p "$work/go/bin"
  cp /bin/busybox "$work/go/bin/busybox"
  cat > "$work/go/Dockerfile" <<'END'
FROM scratch
COPY bin /bin
RUN ["/bin/busybox", "ln", "-s", "busybox", "/bin/sh"]
ENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOCACHE=/cache GOTOOLCHAIN=local GOPROXY=off TMPDIR=/
END
  podman build --quiet --pull=never --network=host --tag localhost/test-go "$work/go"
}

# base_stand_in ARCH makes a base with nothing but certificates and a user, as distroless static
# has it. A local image is for one processor only. A real base is the same each time too.
base_stand_in() {
  mkdir -p "$work/base/etc/ssl/certs"
  cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs"
  printf 'FROM scratch\nCOPY etc /etc\nUSER 65532\n' > "$work/base/Dockerfile"
  podman build --quiet --no-cache --timestamp 0 --pull=never --platform "linux/$1" --tag localhost/test-base "$work/base"
}

# What image.sh has to be told, with the folders of this machine that the build works with: Go,
# the modules, what was compiled before.
stand_in_flags="--pull=never --network=host --no-cache \
  --build-arg GO_IMAGE=localhost/test-go --build-arg BASE_IMAGE=localhost/test-base \
  --volume $(go env GOROOT):/usr/local/go:ro --volume $(go env GOMODCACHE):/go/pkg/mod:ro \
  --volume $(go env GOCACHE):/cache"
