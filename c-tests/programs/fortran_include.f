! mpif.h in fixed form: the calls of a plain old program.
      program fortran_include
      implicit none
      include 'mpif.h'
      integer ierr, rank, nranks, fh, i, n, amode, filetype, neighbour
      integer status(MPI_STATUS_SIZE)
      integer data(100), back(100)
      integer (kind=MPI_OFFSET_KIND) disp, offset, fsize
      character*512 dir, name
      character*(MPI_MAX_DATAREP_STRING) rep
      integer etype, ftype

      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, nranks, ierr)
      call GETARG(1, dir)
      name = trim(dir)//'/fortran_include'
      do i = 1, 100
         data(i) = rank * 1000 + i
         back(i) = -1
      end do
      amode = MPI_MODE_CREATE + MPI_MODE_RDWR
      call MPI_FILE_OPEN(MPI_COMM_WORLD, name, amode,                   &
     &                   MPI_INFO_NULL, fh, ierr)
      if (ierr .ne. MPI_SUCCESS) call MPI_ABORT(MPI_COMM_WORLD,1,ierr)
      offset = rank * 400
      call MPI_FILE_WRITE_AT(fh, offset, data, 100, MPI_INTEGER,        &
     &                       status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      call say(rank, nranks, 'wrote ', n)
      call MPI_FILE_SYNC(fh, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FILE_SYNC(fh, ierr)
      neighbour = mod(rank + 1, nranks)
      offset = neighbour * 400
      call MPI_FILE_SEEK(fh, offset, MPI_SEEK_SET, ierr)
      call MPI_FILE_READ_ALL(fh, back, 100, MPI_INTEGER, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      call say(rank, nranks, 'read ', n)
      call say(rank, nranks, 'last ', back(100))
      call MPI_TYPE_VECTOR(10, 2, 2 * nranks, MPI_INTEGER, filetype,    &
     &                     ierr)
      call MPI_TYPE_COMMIT(filetype, ierr)
      disp = nranks * 400 + rank * 8
      call MPI_FILE_SET_VIEW(fh, disp, MPI_INTEGER, filetype, 'native', &
     &                       MPI_INFO_NULL, ierr)
      call MPI_FILE_WRITE_ALL(fh, data, 20, MPI_INTEGER, status, ierr)
      call MPI_FILE_GET_VIEW(fh, disp, etype, ftype, rep, ierr)
      n = int(disp)
      call say(rank, nranks, 'displacement '//trim(rep)//' ', n)
      call MPI_FILE_SYNC(fh, ierr)
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FILE_SYNC(fh, ierr)
      call MPI_FILE_GET_SIZE(fh, fsize, ierr)
      n = int(fsize)
      call say(rank, nranks, 'size ', n)
      call MPI_FILE_CLOSE(fh, ierr)
      if (fh .eq. MPI_FILE_NULL) call say(rank, nranks, 'null ', 0)
      name = trim(dir)//'/missing'
      call MPI_FILE_OPEN(MPI_COMM_WORLD, name, MPI_MODE_RDONLY,         &
     &                   MPI_INFO_NULL, fh, ierr)
      call MPI_ERROR_CLASS(ierr, n, i)
      if (n .eq. MPI_ERR_NO_SUCH_FILE) then
         call say(rank, nranks, 'no such file ', 1)
      else
         call say(rank, nranks, 'another class ', 1)
      end if
      call MPI_FINALIZE(ierr)
      end

! One number of every rank, in the order of ranks.
      subroutine say(rank, nranks, words, number)
      implicit none
      include 'mpif.h'
      integer rank, nranks, number, ierr, i
      character*(*) words
      integer all(0:63)
      call MPI_GATHER(number, 1, MPI_INTEGER, all, 1, MPI_INTEGER, 0,   &
     &                MPI_COMM_WORLD, ierr)
      if (rank .ne. 0) return
      do i = 0, nranks - 1
         print '(a,i0,a,a,i0)', 'rank ', i, ': ', words, all(i)
      end do
      end
