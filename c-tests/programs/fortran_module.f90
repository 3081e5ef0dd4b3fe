! `use mpi`: nonblocking access and MPI_WAIT, ordered access, split collectives, hints, MPI_STATUS_IGNORE.
program fortran_module
  use mpi
  implicit none
  integer :: ierr, rank, ranks, fh, i, n, info, request(2)
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  double precision :: numbers(50), back(50)
  integer(kind=MPI_OFFSET_KIND) :: offset, position
  character(len=512) :: directory
  logical :: flag, done

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, directory)
  numbers = [(rank + i / 100d0, i = 1, 50)]
  back = 0
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'cb_buffer_size', '65536', ierr)
  call MPI_File_open(MPI_COMM_WORLD, trim(directory)//'/fortran_module', ior(MPI_MODE_CREATE, MPI_MODE_RDWR), info, fh, ierr)
  call MPI_Info_free(info, ierr)
  if (ierr /= MPI_SUCCESS) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)

  offset = rank * 400_MPI_OFFSET_KIND
  call MPI_File_iwrite_at(fh, offset, numbers, 25, MPI_DOUBLE_PRECISION, request(1), ierr)
  call MPI_File_iwrite_at(fh, offset + 200, numbers(26), 25, MPI_DOUBLE_PRECISION, request(2), ierr)
  call MPI_Waitall(2, request, statuses, ierr)
  call MPI_Get_count(statuses(:, 2), MPI_DOUBLE_PRECISION, n, ierr)
  call say('iwrite_at wrote', n)
  call MPI_File_seek(fh, offset, MPI_SEEK_SET, ierr)
  call MPI_File_iread(fh, back, 50, MPI_DOUBLE_PRECISION, request(1), ierr)
  call MPI_Wait(request(1), status, ierr)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
  call say('iread read', n)
  call say('the same', merge(1, 0, all(back == numbers)))
  call MPI_File_get_position(fh, position, ierr)
  call say('pointer', int(position - offset))

  call MPI_File_sync(fh, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_File_seek_shared(fh, ranks * 400_MPI_OFFSET_KIND, MPI_SEEK_SET, ierr)
  call MPI_File_write_ordered(fh, numbers, rank + 1, MPI_DOUBLE_PRECISION, status, ierr)
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n, ierr)
  call say('write_ordered wrote', n)

  call MPI_File_write_at_all_begin(fh, 10000 + offset, numbers, 50, MPI_DOUBLE_PRECISION, ierr)
  call MPI_File_write_at_all_end(fh, numbers, MPI_STATUS_IGNORE, ierr)
  call MPI_File_set_atomicity(fh, .true., ierr)
  call MPI_File_get_atomicity(fh, flag, ierr)
  call say('atomic', merge(1, 0, flag))
  done = .false.
  call MPI_File_iread_at(fh, 10000 + offset, back, 50, MPI_DOUBLE_PRECISION, request(1), ierr)
  do while (.not. done)
    call MPI_Test(request(1), done, status, ierr)
  end do
  call say('the same', merge(1, 0, all(back == numbers)))
  call MPI_File_close(fh, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine say(words, number)
    character(len=*), intent(in) :: words
    integer, intent(in) :: number
    integer :: every(0:63), code, j
    call MPI_Gather(number, 1, MPI_INTEGER, every, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, code)
    if (rank /= 0) return
    do j = 0, ranks - 1
      print '(a,i0,3a,i0)', 'rank ', j, ': ', words, ' ', every(j)
    end do
  end subroutine say
end program fortran_module
